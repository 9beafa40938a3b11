import { rejectOnAbort } from '../../base/async.ts';
import type { TaskRun } from './task-run.ts';

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
 * Resolves when a task has ended. Rejects with the signal's reason as soon as the signal aborts. Without this, tasks
 * that wait for each other's end could not be stopped.
 */
export function waitForEnd(run: TaskRun, signal: AbortSignal): Promise<void> {
  return rejectOnAbort(run.end.written, signal);
}
