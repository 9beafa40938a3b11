import { dropMissing } from '../../base/drop-missing.ts';
import type { JsonObject } from '../../base/json.ts';
import { callHookFields } from '../../protocol/hook-fields.ts';
import type {
  AskHookModel,
  DefinitionHooks,
  HookEventName,
  HookOccasion,
  HookOutcome,
  HookTask,
} from '../../protocol/hook.ts';
import { newId } from '../../base/ids.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import { truncate } from '../../base/text.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import { sharedSearches } from '../../tools/search/shared-searches.ts';
import { stopOrder } from '../task/stop-order.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskTree } from '../task/task-tree.ts';

/** The outcome of hooks that have nothing to say. */
export const SILENCE: HookOutcome = { context: [], records: [] };

/** An occasion for hooks in a task. */
interface TaskOccasion {
  readonly event: HookEventName;
  /** The id of the call, the input or the question that it is about. Default: null. */
  readonly about?: string | null;
  /** The value that matchers are compared with. Default: null, so that every hook of the event runs. */
  readonly matched?: string | null;
  readonly fields: JsonObject;
  /** Compares the condition of a hook with the call. Default: there is no call. */
  readonly matchCondition?: HookOccasion['matchCondition'];
  /** The hook that does not run. Default: none. */
  readonly without?: HookOccasion['without'];
  /** True if an event is recorded even if no hook has anything to say. Default: false. */
  readonly isAlwaysRecorded?: boolean;
  /** Ends the hooks. Default: the signal that stops the task or interrupts its turn. */
  readonly signal?: AbortSignal;
}

/** Tells whether any hook may run at an event of a task. */
export function hasHooks(
  { hooks, skills }: Pick<EngineDeps, 'hooks' | 'skills'>,
  run: TaskRun,
  event: HookEventName,
): boolean {
  return hooks?.has(event, listDefinitionHooks(skills, run)) === true;
}

/** Lists the hooks in the definition of an agent. */
function listAgentHooks({ hooks, origin }: AgentDefinition): readonly DefinitionHooks[] {
  return hooks === undefined ? [] : [{ source: { kind: 'agent', where: origin.path }, hooks }];
}

/** Lists the hooks of the agent of a task and of the skills that the task has. */
function listDefinitionHooks(
  source: EngineDeps['skills'],
  { spec: { agent }, state }: TaskRun,
): readonly DefinitionHooks[] {
  const own = listAgentHooks(agent);
  if (state.skills.size === 0) return own;
  const skills = source
    .skills()
    .flatMap(({ name, path, hooks }): readonly DefinitionHooks[] =>
      hooks !== undefined && state.skills.has(name)
        ? [{ source: { kind: 'skill', where: path }, hooks }]
        : [],
    );
  return [...own, ...skills];
}

/**
 * Runs the hooks of an occasion, and records what they said. A hook that ends the task stops it. Never rejects because
 * of a hook.
 */
export async function runHooks(
  deps: EngineDeps,
  run: TaskRun,
  {
    event,
    about = null,
    matched = null,
    fields,
    matchCondition,
    without,
    isAlwaysRecorded = false,
    signal = run.cancellation.turnSignal,
  }: TaskOccasion,
): Promise<HookOutcome> {
  const { hooks, store, skills } = deps;
  if (hooks === undefined) return SILENCE;
  const definitions = listDefinitionHooks(skills, run);
  if (!hooks.has(event, definitions)) return SILENCE;
  const task = describeHookTask(store, run);
  const callId = about ?? event;
  const ask: AskHookModel = async (question, ended) =>
    (await import('../turn/request-apart.ts')).requestApart(
      deps,
      run,
      { callId, signal: ended },
      { ...question, purpose: `the question of a ${event} hook` },
    );
  const { hookPorts } = run;
  const occasion: HookOccasion = {
    event,
    task,
    matched,
    fields,
    definitions,
    ask,
    askAgent: (...asked) => hookPorts.askAgent(run, ...asked),
    callTool: (...called) => hookPorts.callTool(run, ...called),
    wake: () => wakeForLateHooks(deps, run),
    findUrlProblem: (url) => hookPorts.findUrlProblem(run, url),
  };
  const outcome = await hooks
    .run({ ...occasion, ...dropMissing({ matchCondition, without }) }, signal)
    .finally(sharedSearches.beginChange());
  if (isSilent(outcome) && !isAlwaysRecorded) return outcome;
  run.journal.record(
    { type: 'hook.ran', event, about, outcome },
    ...warnOfIgnoredAllows(run.tree, outcome.records),
  );
  if (outcome.stop !== undefined) run.stop(stopOrder('client', `a hook ended it: ${outcome.stop}`));
  return outcome;
}

/** Records what hooks of a task have said that nobody has waited for, and adds their texts to the next request. */
export function recordLateHooks({ hooks }: Pick<EngineDeps, 'hooks'>, run: TaskRun): void {
  for (const { event, outcome } of hooks?.takeLate?.(run.spec.id) ?? []) {
    sharedSearches.noteChange();
    run.journal.record({ type: 'hook.ran', event, about: null, outcome });
    queueContext(run, `late-${newId()}`, outcome.context);
  }
}

/** Has a task go on for what a hook has said that nobody has waited for. A task that ends leaves it for its next activation. */
function wakeForLateHooks(deps: EngineDeps, run: TaskRun): void {
  if (run.isEnding) return;
  recordLateHooks(deps, run);
  run.mailbox.wake();
}

/** Adds texts of hooks to the next request, once for each occasion of an activation. */
export function queueContext(run: TaskRun, occasion: string, context: readonly string[]): void {
  if (context.length === 0) return;
  const id = `hook-${run.state.activation.number}-${occasion}`;
  const text = context.map((each) => `A hook says: ${each}`).join('\n');
  run.journal.record({ type: 'input.queued', input: createNotice(id, text) });
}

/** The hooks of each tree whose ignored permissions were reported in this process. */
const reportedHooks = new WeakMap<TaskTree, Set<string>>();

/** Creates a warning for each hook that allowed a call and may not, once in a conversation. */
function warnOfIgnoredAllows(
  tree: TaskTree,
  records: HookOutcome['records'],
): readonly EventBody[] {
  const reported = reportedHooks.get(tree) ?? new Set();
  reportedHooks.set(tree, reported);
  return records.flatMap(({ ignoredAllow, source, what }): readonly EventBody[] => {
    const key = JSON.stringify([source.where, what]);
    if (ignoredAllow === undefined || reported.has(key)) return [];
    reported.add(key);
    const message = `the hook ${truncate(what, MAX_SHOWN_HOOK)} (${source.where}) allowed a call, which has no effect: only a command, an HTTP request, a question or a function in your own settings for this very tool may allow`;
    return [{ type: 'warning', message }];
  });
}

/** The maximum number of code points of a hook's command in a warning. */
const MAX_SHOWN_HOOK = 80;

function isSilent({ records, context, ...said }: HookOutcome): boolean {
  return records.length === 0 && context.length === 0 && Object.keys(said).length === 0;
}

/** Tells hooks that a person is wanted. Nobody waits for them. */
export function notifyByHooks(
  deps: EngineDeps,
  run: TaskRun,
  { type, message }: { readonly type: string; readonly message: string },
): void {
  const fields = { message, title: 'Muster', notification_type: type };
  runHooks(deps, run, { event: 'Notification', matched: type, fields }).catch((thrown: unknown) =>
    deps.onFault(run.spec.id, thrown),
  );
}

/** Describes a call in the fields that hooks know. */
export function describeCallForHooks({ call, tool }: ReadyCall): JsonObject {
  return callHookFields({ id: call.id, tool: tool.name, input: call.input });
}

/** Describes a task for hooks. */
export function describeHookTask(
  store: EngineDeps['store'],
  {
    spec,
    permissions,
  }: { readonly spec: TaskSpec; readonly permissions: { readonly rights: Rights } },
): HookTask {
  return {
    id: spec.id,
    rootId: spec.root,
    parentId: spec.parent,
    agentType: spec.agent.name,
    depth: permissions.rights.depth,
    ...(spec.source === 'hook' ? { isVerifier: true } : {}),
    cwd: spec.cwd,
    mode: permissions.rights.mode,
    logFile: store.logPath(spec.id) ?? '',
    rootLogFile: store.logPath(spec.root) ?? '',
  };
}
