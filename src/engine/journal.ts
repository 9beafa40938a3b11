import type { EventBody, TaskEvent } from '../protocol/event.ts';
import { applyEvent, foldEvents, type TaskState } from '../protocol/state.ts';
import type { TaskLog } from '../store/task-store.ts';

/**
 * The one way a task's state changes: an event is written, then folded, then shown. So the live
 * state is the fold of the log by construction, and nothing is shown that is not written.
 */
export class Journal {
  readonly state: TaskState;
  private readonly log: TaskLog;
  private readonly show: (event: TaskEvent) => void;

  constructor(log: TaskLog, show: (event: TaskEvent) => void) {
    this.log = log;
    this.show = show;
    this.state = foldEvents(log.opening);
    for (const event of log.opening) show(event);
  }

  /** Writes the events as one batch. Throws when they can't be written; then nothing is folded. */
  record(...bodies: readonly EventBody[]): void {
    const events = this.log.append(bodies);
    for (const event of events) applyEvent(this.state, event);
    for (const event of events) this.show(event);
  }

  /** Resolves when all that was recorded survives a loss of power. */
  sync(): Promise<void> {
    return this.log.sync();
  }

  close(): void {
    this.log.close();
  }
}
