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

interface LogContext {
  readonly id: string;
  readonly record: TaskRecord;
  readonly stamp: EventStamper;
}

/** A task's log in memory, in the hands of its owner. */
export class MemoryTaskLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly opening: readonly TaskEvent[];
  readonly #context: LogContext;
  #closed = false;

  constructor(context: LogContext, opening: readonly EventBody[]) {
    this.#context = context;
    this.id = context.id;
    this.epoch = context.record.epoch + 1;
    this.opening = this.append(opening);
    context.record.epoch = this.epoch;
    context.record.owner = this;
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    if (this.#closed) {
      throw new MusterError('INTERNAL_ERROR', `the log of task ${this.id} is closed`);
    }
    const { record, stamp } = this.#context;
    const at = { task: this.id, epoch: this.epoch, seq: record.events.length };
    const events = stamp(bodies, at).map(({ event }) => event);
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
    this.#context.record.owner = undefined;
  }
}
