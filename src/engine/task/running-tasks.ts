import type { TaskRun } from './task-run.ts';

/** The tasks at work in this process; an ended one lives on in its log alone. */
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
