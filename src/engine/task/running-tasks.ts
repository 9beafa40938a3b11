import type { TaskRun } from './task-run.ts';
import { deferred, onAbort } from '../../base/async.ts';

/** The tasks that run in this process. A task is removed when its end is recorded. */
export class RunningTasks {
  private readonly runs = new Map<string, TaskRun>();

  add(run: TaskRun): void {
    this.runs.set(run.spec.id, run);
    void run.end.written.then(() => this.runs.delete(run.spec.id));
  }

  get(id: string): TaskRun | undefined {
    return this.runs.get(id);
  }

  all(): readonly TaskRun[] {
    return [...this.runs.values()];
  }
}

/**
 * Resolves when a task has ended. Rejects with the signal's reason as soon as that aborts; otherwise tasks that
 * wait for each other's end could not be stopped.
 */
export async function waitForEnd(run: TaskRun, signal: AbortSignal): Promise<void> {
  const aborted = deferred<never>();
  const forget = onAbort(signal, () => aborted.reject(signal.reason));
  await Promise.race([run.end.written, aborted.promise]).finally(forget);
}
