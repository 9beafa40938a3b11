import { deferred, onAbort } from '../../base/async.ts';
import type { TaskRun } from './task-run.ts';

/**
 * Resolves when a task has ended. Rejects with the signal's reason as soon as that aborts: tasks that
 * wait for each other's end would else hang, also when they are stopped.
 */
export async function waitForEnd(run: TaskRun, signal: AbortSignal): Promise<void> {
  const aborted = deferred<never>();
  const forget = onAbort(signal, () => aborted.reject(signal.reason));
  await Promise.race([run.end.written, aborted.promise]).finally(forget);
}
