import type { JsonObject } from '../../base/json.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { explainRefusal } from '../../policy/explain-refusal.ts';
import type { ResolvedCall } from '../../policy/call.ts';
import { decide, pickStricter } from '../../policy/decide.ts';
import { addModeToGrant } from '../../policy/mode-grants.ts';
import { listPrograms, readCommandLine } from '../../policy/rules/command-rules.ts';
import {
  NO_ACCESS,
  type Decision,
  type PermissionMode,
  type PermissionRule,
  type Rights,
} from '../../protocol/permission.ts';
import { hasHooks, runHooks } from '../hooks/run-hooks.ts';
import { askPerson, closeQuestion, type WaitRunner } from '../questions/ask-person.ts';
import type { CallFileAccess } from '../task/call-process.ts';
import type { EngineDeps } from '../task/deps.ts';
import { workingDirectory } from '../task/inbox.ts';
import type { PreparedCall, ReadyCall } from '../task/prepared-call.ts';
import type { TaskRun } from '../task/task-run.ts';
import { describeCallOccasion, describeForDecision } from './describe-call.ts';
import { createFileAccess } from './file-access.ts';
import { showChangedCall, withHookVerdict } from './hooks-before-call.ts';
import { denyLinkTargets } from './link-targets.ts';
import { prepareChangedCall, type CallingTask } from './prepare-call.ts';

/** The decision about a call after a person has answered, if one was asked. */
export interface Judgement {
  readonly allowed: boolean;
  /** The files that the call may open: those in the task's roots, and those allowed outside of them. */
  readonly pathAccess: CallFileAccess;
  readonly decision: Decision;
  /** The text for the model if the call is not allowed. */
  readonly refusal: string;
  /** The call about which was decided. A hook may have changed its arguments. */
  readonly call: ReadyCall;
}

/**
 * Decides whether a call may run, immediately before it runs: paths are resolved now, and a person is asked if the
 * rules say so and someone can answer. A new answer is recorded, and then the call is decided again with the paths,
 * rules and rights of that time.
 *
 * @param waiting runs the wait for the answer, so that the task's slot is free meanwhile
 */
export async function judgeCall(
  deps: EngineDeps,
  run: TaskRun,
  prepared: ReadyCall,
  waiting: WaitRunner,
): Promise<Judgement> {
  let ready = prepared;
  let haveHooksAnswered = !hasHooks(deps, run, 'PermissionRequest');
  for (;;) {
    const { call, decision, pathAccess, programs } = await decideNow(deps, run, ready);
    // The turn may have ended while the call was decided, and nobody would wait for the answer.
    run.cancellation.turnSignal.throwIfAborted();
    if (decision.verdict !== 'ask') {
      const allowed = decision.verdict === 'allow';
      if (allowed) closeQuestion(run, ready);
      recordHookGrant(run, ready, decision);
      const refusal = explainRefusal(decision);
      return { allowed, pathAccess, decision, refusal, call: ready };
    }
    if (!haveHooksAnswered) {
      haveHooksAnswered = true;
      const { verdict, updatedInput, changedBy } = await runHooks(deps, run, {
        event: 'PermissionRequest',
        ...describeCallOccasion(deps, run, ready),
      });
      const changed = changeArguments(run, prepared, updatedInput);
      const seen =
        changed.ready && changed !== prepared
          ? await showChangedCall(deps, run, changed, changedBy ?? null)
          : changed;
      if (!seen.ready) {
        const { text: refusal, decision: broken = decision } = seen;
        return { allowed: false, pathAccess, decision: broken, refusal, call: ready };
      }
      ready = withHookVerdict(seen, verdict);
      continue;
    }
    const verdict = await askPerson(deps, run, { ready, call, decision, programs }, waiting);
    const judged = { pathAccess, call: ready };
    if (verdict.kind === 'allowed') return { ...judged, allowed: true, decision, refusal: '' };
    if (verdict.kind === 'refused') return { ...verdict, ...judged, allowed: false };
  }
}

/** Records that the user has granted a call, if nothing but a hook of the user has answered the question about it. */
export function recordHookGrant(
  { journal }: Pick<TaskRun, 'journal'>,
  { call, tool, hookVerdict }: ReadyCall,
  { verdict, step }: Decision,
): void {
  if (verdict !== 'allow' || step !== 'hook' || hookVerdict === undefined) return;
  const { source: hook } = hookVerdict;
  journal.record({ type: 'call.granted', callId: call.id, tool: tool.name, by: 'user', hook });
}

/**
 * Gives a call the arguments of a hook. A question that a hook wanted for the former ones is still asked. A planned call keeps
 * its arguments, because hooks do not know the changes of its plan.
 */
function changeArguments(
  run: TaskRun,
  ready: ReadyCall,
  input: JsonObject | undefined,
): PreparedCall {
  if (input === undefined || ready.decidedAs !== undefined) return ready;
  const { hookVerdict, hookContext } = ready;
  const changed = prepareChangedCall(run, ready, input);
  if (!changed.ready) return changed;
  const kept = hookVerdict?.verdict === 'ask' ? { hookVerdict } : {};
  return { ...changed, ...dropMissing({ hookContext }), ...kept };
}

/**
 * Decides about a call by its current paths, rules and rights, without asking anybody. A call that makes Muster run
 * commands to check its work also needs the rights of these commands.
 */
export async function decideNow(deps: EngineDeps, run: CallingTask, ready: ReadyCall) {
  const own = await decideAlone(deps, run, ready);
  const checks = toCheckCall(deps, ready);
  if (checks === null) return own;
  // A task may have commands run that check a child, even if the task itself has no shell.
  const { decision, programs } = await decideAlone(deps, run, checks, { inToolSet: true });
  const stricter = pickStricter(own.decision, decision);
  return { ...own, decision: stricter, programs: [...own.programs, ...programs] };
}

/** Returns the call of Bash that would run the commands which check the work of a call; null if there are none. */
function toCheckCall({ tools }: Pick<EngineDeps, 'tools'>, ready: ReadyCall): ReadyCall | null {
  const { checks = [] } = ready.access ?? NO_ACCESS;
  const tool = tools.find(({ name }) => name === 'Bash');
  if (checks.length === 0 || tool === undefined) return null;
  const { hookVerdict: _, ...others } = ready;
  return { ...others, tool, access: { ...NO_ACCESS, commands: checks } };
}

/** Decides about a command that checks the work of a task, by the present rights of the task. Asks nobody. */
export async function decideCheckCommand(
  deps: EngineDeps,
  run: CallingTask,
  command: string,
): Promise<Decision> {
  const tool = deps.tools.find(({ name }) => name === 'Bash');
  if (tool === undefined) throw new Error('there is no shell');
  const call = { type: 'tool_call', id: 'accept', name: tool.name, input: { command } } as const;
  const access = { ...NO_ACCESS, commands: [command] };
  const ready = { ready: true, call, tool, input: { command }, access } as const;
  return (await decideAlone(deps, run, ready, { inToolSet: true })).decision;
}

async function decideAlone(
  deps: EngineDeps,
  run: CallingTask,
  ready: ReadyCall,
  override: Partial<Pick<ResolvedCall, 'inToolSet'>> = {},
) {
  const { allow = [] } = ready.byCommand ?? {};
  const rights = denyLinkTargets(addGrantedRules(deps, run, allow), deps.home);
  const { call, context } = await describeForDecision(deps, run, ready, { rights, ...override });
  const { home, stateDirectories, shellParser } = context;
  const decideIn = (mode: PermissionMode): Decision => decide(call, { ...rights, mode }, context);
  const decision = addModeToGrant(
    markAcceptedEdit(decide(call, rights, context), decideIn),
    { definition: run.spec.agent, rights },
    decideIn,
  );
  const programs =
    decision.verdict === 'ask' && shellParser !== null
      ? call.access.commands.flatMap((line) => listPrograms(readCommandLine(line, shellParser)))
      : [];
  const pathAccess = createFileAccess({ call, rights, home, stateDirectories });
  return { call, decision, programs, pathAccess };
}

/** Marks a decision to ask about an edit that the mode acceptEdits would allow. */
function markAcceptedEdit(
  decision: Decision,
  decideIn: (mode: PermissionMode) => Decision,
): Decision {
  if (decision.verdict !== 'ask' || decision.step !== 'tool_default') return decision;
  return decideIn('acceptEdits').verdict === 'allow'
    ? { ...decision, isAcceptedEdit: true }
    : decision;
}

/**
 * Returns the rights of a task with the rules that the user has allowed since its start (for this task, for a task
 * above it, or permanently), and with those that hold for this call alone.
 */
function addGrantedRules(
  { inbox }: EngineDeps,
  run: CallingTask,
  ofCall: readonly PermissionRule[],
): Rights {
  const { rights } = run.permissions;
  const standing = inbox.standingRules?.rules(workingDirectory(rights)) ?? [];
  const granted = [...run.permissions.granted(), ...standing, ...ofCall];
  if (granted.length === 0) return rights;
  const { rules } = rights;
  return { ...rights, rules: { ...rules, allow: [...rules.allow, ...granted] } };
}
