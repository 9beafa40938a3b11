import { UsageError } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { sortByNearness } from '../base/name-suggestions.ts';
import { HOOK_EVENTS, type HookEventName } from '../protocol/hook.ts';
import { checkFields } from './check-fields.ts';
import type { FunctionHook, JudgeCall, JudgedCall, MusterOptions } from './options.ts';

/** A function as a hook, in the form from which Muster makes one. */
interface HookRequest extends Pick<FunctionHook, 'matcher' | 'timeoutSeconds'> {
  readonly event: HookEventName;
  readonly run: (input: JsonObject, context: { readonly signal: AbortSignal }) => unknown;
  readonly path: string;
  readonly blocksOnFailure: boolean;
}

/** Reads the options `policy` and `hooks`. Throws UsageError for an unknown event or field. */
export function readFunctionHooks({
  policy,
  hooks = {},
}: Pick<MusterOptions, 'policy' | 'hooks'>): readonly HookRequest[] {
  const own = Object.entries(hooks).flatMap(([name, list = []]) => {
    const event = HOOK_EVENTS.find((each) => each === name);
    if (event === undefined) {
      const [nearest] = sortByNearness(name, HOOK_EVENTS);
      throw new UsageError(
        `createMuster: hooks: there is no event ${JSON.stringify(name)}. Did you mean ${nearest}? Valid: ${HOOK_EVENTS.join(', ')}`,
      );
    }
    if (!Array.isArray(list))
      throw new UsageError(`createMuster: hooks.${event} must be an array of hooks`);
    return list.map((hook: FunctionHook, index): HookRequest => {
      const path = `hooks.${event}[${index}]`;
      checkFields(hook, `createMuster: ${path}`, {
        matcher: 'string',
        timeoutSeconds: 'finite number',
        run: 'function',
      });
      const { run, ...rest } = hook;
      if (rest.timeoutSeconds !== undefined && rest.timeoutSeconds <= 0)
        throw new UsageError(
          `createMuster: ${path}: timeoutSeconds must be above 0; leave it out for 60 seconds`,
        );
      return {
        ...rest,
        event,
        run: (input, context) => run(input, context),
        path,
        blocksOnFailure: false,
      };
    });
  });
  return policy === undefined ? own : [createPolicyHook(policy), ...own];
}

/** Creates the hook by which a policy judges calls. Only its narrowing verdicts are passed on. */
function createPolicyHook(policy: JudgeCall): HookRequest {
  return {
    event: 'PreToolUse',
    path: 'policy',
    // A guard that breaks must not let calls through.
    blocksOnFailure: true,
    async run(input, context) {
      const verdict = await policy(toJudgedCall(input), context);
      if (verdict === undefined) return undefined;
      const { decision, reason } = verdict;
      if (decision !== 'ask' && decision !== 'deny')
        throw new UsageError('policy: the decision must be "ask" or "deny", or nothing');
      return {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: decision,
          permissionDecisionReason: reason,
        },
      };
    },
  };
}

function toJudgedCall(input: JsonObject): JudgedCall {
  const { tool_name: tool, tool_input: args, agent_type: agent, depth, cwd } = input;
  return {
    tool: String(tool),
    input: isJsonObject(args) ? args : {},
    ...(typeof agent === 'string' ? { agent } : {}),
    depth: typeof depth === 'number' ? depth : 0,
    cwd: String(cwd),
  };
}
