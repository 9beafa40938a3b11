import { outcomeHookFields } from '../../protocol/hook-fields.ts';
import type { ToolOutput } from '../../protocol/tool.ts';
import { hasHooks, runHooks } from '../hooks/run-hooks.ts';
import { describeCallOccasion } from '../permissions/describe-call.ts';
import { prepareChangedCall } from '../permissions/prepare-call.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import type { TaskRun } from '../task/task-run.ts';

/** Returns the call with the arguments that hooks had given it, for reruns, in which no hook runs. */
export function restoreInputFromHooks(run: TaskRun, ready: ReadyCall): ReadyCall {
  const input = run.state.inputsFromHooks.get(ready.call.id);
  if (input === undefined) return ready;
  const prepared = prepareChangedCall(run, ready, input);
  return prepared.ready ? prepared : ready;
}

/** Tells hooks that a call was refused. They cannot change that. */
export async function runHooksAfterRefusal(
  deps: EngineDeps,
  run: TaskRun,
  ready: ReadyCall,
  reason: string,
): Promise<void> {
  const occasion = describeCallOccasion(deps, run, ready);
  const fields = { ...occasion.fields, reason };
  await runHooks(deps, run, { event: 'PermissionDenied', ...occasion, fields });
}

/** Runs the hooks that come after a call. Returns what they say to the model, as notes of its result. */
export async function runHooksAfter(
  deps: EngineDeps,
  run: TaskRun,
  ready: ReadyCall,
  output: ToolOutput,
): Promise<readonly string[]> {
  const event = output.error === undefined ? 'PostToolUse' : 'PostToolUseFailure';
  const before = ready.hookContext ?? [];
  if (!hasHooks(deps, run, event)) return before;
  const { text, error } = output;
  const occasion = describeCallOccasion(deps, run, ready);
  const fields = { ...occasion.fields, ...outcomeHookFields(text, error ?? null) };
  const { block, context } = await runHooks(deps, run, { event, ...occasion, fields });
  return [...before, ...(block === undefined ? [] : [block]), ...context];
}
