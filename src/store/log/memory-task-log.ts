import { MusterError } from '../../base/errors.ts';
import type { EventBody, TaskEvent } from '../../protocol/events/event.ts';
import type { TaskLog, TaskSummary } from '../task-store.ts';
import type { EventStamper } from './event-stamper.ts';
import { addToSummary } from './task-summary.ts';

/** A task that is kept in memory. */
export interface MemoryTask {
  readonly events: TaskEvent[];
  summary: TaskSummary | undefined;
  epoch: number;
  owner: TaskLog | undefined;
}

/** Creates a task from the events of its log, which may be none. */
export function createMemoryTask(events: readonly TaskEvent[] = []): MemoryTask {
  let summary: TaskSummary | undefined;
  for (const event of events) summary = addToSummary(summary, event);
  return { events: [...events], summary, epoch: events.at(-1)?.epoch ?? 0, owner: undefined };
}

interface MemoryLogOptions {
  readonly id: string;
  readonly task: MemoryTask;
  readonly stamp: EventStamper;
  /** The first events of the new owner. */
  readonly opening: readonly EventBody[];
  /** Called with each batch of events that was added. */
  readonly onEvents: (events: readonly TaskEvent[]) => void;
  /** Resolves when all events that were added before are durable. */
  readonly sync: () => Promise<void>;
}

/** The log of a task in memory, as its owner uses it. */
export class MemoryTaskLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly opening: readonly TaskEvent[];
  readonly #options: MemoryLogOptions;
  #closed = false;

  constructor(options: MemoryLogOptions) {
    const { id, task } = options;
    this.id = id;
    this.#options = options;
    this.epoch = task.epoch + 1;
    this.opening = this.append(options.opening);
    task.epoch = this.epoch;
    task.owner = this;
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    if (this.#closed) {
      throw new MusterError('INTERNAL_ERROR', `the log of task ${this.id} is closed`);
    }
    const { task, stamp, onEvents } = this.#options;
    const position = { task: this.id, epoch: this.epoch, seq: task.events.length };
    const events = stamp(bodies, position).map(({ event }) => event);
    for (const event of events) {
      task.events.push(event);
      task.summary = addToSummary(task.summary, event);
    }
    onEvents(events);
    return events;
  }

  sync(): Promise<void> {
    return this.#options.sync();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.task.owner = undefined;
  }
}
