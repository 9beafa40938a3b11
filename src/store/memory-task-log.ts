import { MusterError } from '../base/errors.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { EventStamper } from './log/event-stamper.ts';
import { addToSummary } from './log/task-summary.ts';
import type { TaskLog, TaskSummary } from './task-store.ts';

/** A task that is kept in memory. */
export interface TaskRecord {
  readonly events: TaskEvent[];
  summary: TaskSummary | undefined;
  epoch: number;
  owner: TaskLog | undefined;
}

/** The log of a task in memory, as its owner uses it. */
export class MemoryTaskLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly opening: readonly TaskEvent[];
  readonly #record: TaskRecord;
  readonly #stamp: EventStamper;
  #closed = false;

  constructor(id: string, record: TaskRecord, stamp: EventStamper, opening: readonly EventBody[]) {
    this.id = id;
    this.#record = record;
    this.#stamp = stamp;
    this.epoch = record.epoch + 1;
    this.opening = this.append(opening);
    record.epoch = this.epoch;
    record.owner = this;
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    if (this.#closed) {
      throw new MusterError('INTERNAL_ERROR', `the log of task ${this.id} is closed`);
    }
    const record = this.#record;
    const position = { task: this.id, epoch: this.epoch, seq: record.events.length };
    const events = this.#stamp(bodies, position).map(({ event }) => event);
    for (const event of events) {
      record.events.push(event);
      record.summary = addToSummary(record.summary, event);
    }
    return events;
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#record.owner = undefined;
  }
}
