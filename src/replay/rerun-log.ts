import { steadyTime } from '../protocol/state/steady-time.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { TaskLog } from '../store/task-store.ts';
import { withLoggedValues } from './logged-values.ts';
import { differingFields, type Difference, explainDifference } from './difference.ts';
import { isExternalEvent } from './external-events.ts';

/** Thrown at a rerun that writes what its log does not have, or more than it: nothing of it goes on. */
class LeftTheLog extends Error {}

/**
 * The log of a life as a rerun writes it: it takes only the event that stands there next, and says where
 * that is another one.
 */
export class RerunLog implements TaskLog {
  readonly id: string;
  readonly epoch: number;
  readonly opening: readonly TaskEvent[] = [];
  difference: Difference | null = null;
  private readonly whole: readonly TaskEvent[];
  private readonly events: readonly TaskEvent[];
  private at = 0;
  private isGiving = false;

  /** `whole`: of the whole log, to tell of. */
  constructor(id: string, whole: readonly TaskEvent[], events: readonly TaskEvent[]) {
    this.id = id;
    this.whole = whole;
    this.events = events;
    this.epoch = events[0]?.epoch ?? 1;
  }

  /** What is to come next; `ahead`: so many after it. Undefined: the life has ended. */
  next(ahead = 0): TaskEvent | undefined {
    return this.events[this.at + ahead];
  }

  /** The wall clock's time of the next event. */
  now(): number {
    return this.nearest()?.ts ?? 0;
  }

  /** The steady time of the newest event; 0 before the first. */
  monotonic(): number {
    const event = this.nearest();
    return event === undefined ? 0 : steadyTime(event);
  }

  get isOver(): boolean {
    return this.difference !== null || this.next() === undefined;
  }

  /** The number of the newest event. */
  get position(): number {
    return (this.next()?.seq ?? this.whole.length) - 1;
  }

  /** Around the recording of what comes from outside: that is taken as it is. */
  giving(record: () => void): void {
    this.isGiving = true;
    try {
      record();
    } finally {
      this.isGiving = false;
    }
  }

  append(bodies: readonly EventBody[]): readonly TaskEvent[] {
    if (this.difference !== null) throw new LeftTheLog();
    if (this.isGiving) return this.take(bodies.length);
    const taken: TaskEvent[] = [];
    for (const body of bodies) taken.push(...this.takeAs(body));
    return taken;
  }

  /** The loop waits for ever, or has ended, where the log has something. */
  fail(line: string): void {
    const logged = this.next();
    if (this.difference !== null || logged === undefined) return;
    const { task, seq, type } = logged;
    this.difference = { task, seq, type, lines: [line] };
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}

  private takeAs(body: EventBody): readonly TaskEvent[] {
    const outside: TaskEvent[] = [];
    for (;;) {
      const logged = this.next();
      // The process died here: what it would have written then, nobody knows.
      if (logged === undefined) throw new LeftTheLog();
      const lines = differingFields(withLoggedValues(body, logged), logged);
      if (lines.length === 0) return [...outside, ...this.take(1)];
      if (!isExternalEvent(logged)) {
        const { task, seq, type } = logged;
        this.difference = {
          task,
          seq,
          type,
          lines: explainDifference(body, logged, this.whole) ?? lines,
        };
        throw new LeftTheLog();
      }
      // It came before this was written, and after it was decided.
      outside.push(...this.take(1));
    }
  }

  private nearest(): TaskEvent | undefined {
    return this.next() ?? this.events.at(-1) ?? this.whole.at(-1);
  }

  private take(count: number): readonly TaskEvent[] {
    const taken = this.events.slice(this.at, this.at + count);
    this.at += taken.length;
    return taken;
  }
}
