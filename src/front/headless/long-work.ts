import { steadyTime } from '../../protocol/state/steady-time.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Who waits so long in front of nothing takes it for a hang. */
const LONG_WORK_MS = 30_000;

export interface LongWorkLines {
  showAtWork(state: TaskState, doing: string | null): void;
  showTask(event: TaskEvent, state: TaskState): void;
}

/**
 * Progress for a log or a pipe: nothing of work that is soon done; of work that is not, a line for each
 * subagent that is at work by then, and for each that begins or ends later. By the time that events have.
 */
export class LongWork {
  private readonly lines: LongWorkLines;
  /** Subagents at work, by id, while nothing is told of them. */
  private readonly untold = new Map<string, TaskState>();
  private begunAt: number | null = null;
  private isLong = false;

  constructor(lines: LongWorkLines) {
    this.lines = lines;
  }

  /** `state`: the fold of the task's log with the event. */
  see(event: TaskEvent, state: TaskState): void {
    this.begunAt ??= steadyTime(event);
    const { id, parent } = state.spec;
    if (this.isLong) {
      if (parent !== null) this.lines.showTask(event, state);
      return;
    }
    if (event.type === 'task.ended') this.untold.delete(id);
    else if (parent !== null) this.untold.set(id, state);
    if (steadyTime(event) - this.begunAt < LONG_WORK_MS) return;
    this.isLong = true;
    for (const atWork of this.untold.values()) this.lines.showAtWork(atWork, null);
    this.untold.clear();
  }
}
