import { isDeepStrictEqual } from 'node:util';
import { STRICTNESS } from '../../policy/decide.ts';
import type { HookIdentity, HookVerdict } from '../../protocol/hook.ts';
import { hasHooks, runHooks } from '../hooks/run-hooks.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { PreparedCall, ReadyCall } from '../task/prepared-call.ts';
import type { TaskRun } from '../task/task-run.ts';
import { describeCallOccasion } from './describe-call.ts';
import { prepareChangedCall, refuseChangedCall } from './prepare-call.ts';

/**
 * Runs the hooks that come before a call. They can change its arguments, and what they say about it is part of the decision
 * about the call with these arguments.
 */
export async function runHooksBefore(
  deps: EngineDeps,
  run: TaskRun,
  ready: ReadyCall,
): Promise<PreparedCall> {
  if (!hasHooks(deps, run, 'PreToolUse')) return ready;
  const { said, updatedInput, changedBy } = await askHooks(deps, run, ready, null);
  if (updatedInput === undefined) return said;
  const changed = prepareChangedCall(run, ready, updatedInput);
  if (!changed.ready) return changed;
  const { hookVerdict, hookContext = [] } = said;
  const told = { ...withHookVerdict(changed, hookVerdict), hookContext };
  return await showChangedCall(deps, run, told, changedBy ?? null);
}

/**
 * Runs the hooks that come before a call on the arguments that a hook has given it, because a guard has seen only the former
 * ones. If a hook changes them once more, the call is refused: no further hook would have seen the result.
 *
 * @param changedBy the hook that has changed the arguments, which does not run again
 */
export async function showChangedCall(
  deps: EngineDeps,
  run: TaskRun,
  changed: ReadyCall,
  changedBy: HookIdentity | null,
): Promise<PreparedCall> {
  if (!hasHooks(deps, run, 'PreToolUse')) return changed;
  const { said, updatedInput } = await askHooks(deps, run, changed, changedBy);
  const isSame = updatedInput === undefined || isDeepStrictEqual(updatedInput, changed.call.input);
  return isSame ? said : refuseChangedCall(changed, CHANGED_AGAIN);
}

const CHANGED_AGAIN =
  'Several hooks change its arguments, and each of them would have to see what the others have made of them.';

/** Runs the hooks before a call. Returns the call with what they say about it, and the arguments that they want. */
async function askHooks(
  deps: EngineDeps,
  run: TaskRun,
  ready: ReadyCall,
  without: HookIdentity | null,
) {
  const { verdict, context, updatedInput, changedBy } = await runHooks(deps, run, {
    event: 'PreToolUse',
    ...describeCallOccasion(deps, run, ready),
    ...(without === null ? {} : { without }),
  });
  const { hookContext = [] } = ready;
  const said = withHookVerdict({ ...ready, hookContext: [...hookContext, ...context] }, verdict);
  return { said, updatedInput, changedBy };
}

/** Adds what another hook says about a call. The stricter of two verdicts counts. */
export function withHookVerdict(ready: ReadyCall, other: HookVerdict | undefined): ReadyCall {
  const { hookVerdict: own } = ready;
  if (other === undefined) return ready;
  const isStricter = own === undefined || STRICTNESS[other.verdict] > STRICTNESS[own.verdict];
  return isStricter ? { ...ready, hookVerdict: other } : ready;
}
