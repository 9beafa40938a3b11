import { sleep } from '../../base/deadlines.ts';
import { findQuotedCall } from '../../protocol/state/quoted-calls.ts';
import { recordLateHooks } from '../hooks/run-hooks.ts';
import { runPromptHooks } from '../hooks/task-hooks.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { reportsEndsOnly } from './next-step.ts';

/** The time within which the ends of several children are reported to their parent in one request. */
const GATHER_DELAY_MS = 50;
/** The maximum total delay of such a request. Waiting saves turns of the parent, but also costs time. */
const MAX_GATHER_DELAY_MS = 1_000;

/**
 * Completes the inputs of the next request, and takes the slot of the task: waits for ends of children, adds what hooks have
 * said that nobody has waited for, has hooks judge the messages of the user, and runs the shell parts of slash commands in them. Resolves to false if a message is not sent because
 * of a shell part, so that the next step has to be decided anew.
 */
export async function gatherInputs(deps: EngineDeps, run: TaskRun): Promise<boolean> {
  await waitForMoreEnds(deps, run);
  recordLateHooks(deps, run);
  await runPromptHooks(deps, run);
  await run.slot.take();
  if (findQuotedCall(run.state.conversation.queued) === null) return true;
  // The commands run in the workspace of the task.
  await run.preparation;
  const { runShellParts } = await import('../quote/shell-part.ts');
  return await runShellParts(deps, run);
}

/**
 * Waits before a request that only reports ends of children, as long as more children end, so that ends at nearly the
 * same time are reported together. The task does not hold its slot meanwhile.
 */
async function waitForMoreEnds(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { openChildren } = run.state;
  const deadline = deps.clock.monotonic() + MAX_GATHER_DELAY_MS;
  for (let openBefore = Infinity; reportsEndsOnly(run.state) && openChildren.size < openBefore;) {
    openBefore = openChildren.size;
    if (deps.clock.monotonic() >= deadline) return;
    run.slot.release();
    await sleep(deps.deadlines, GATHER_DELAY_MS, run.cancellation.turnSignal);
  }
}
