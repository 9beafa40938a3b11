import type { TaskEvent } from '../protocol/events/event.ts';
import { phaseOf, type Phase } from './phase.ts';
import type { Span } from './span.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/** Collects what a task was at, event by event: the same reducer as all views, looked at in between. */
export class Timeline {
  private readonly closed: Span[] = [];
  private open: (Phase & { readonly from: number }) | null = null;
  /** When the newest event was written: a clock that was set back stands still here. */
  private at = -Infinity;
  private wasParked = false;

  /** `state`: after the event. */
  add(event: TaskEvent, state: TaskState): void {
    const before = this.at;
    this.at = Math.max(before, event.ts);
    if (event.type === 'task.claimed') this.claim(event, state, before);
    const phase = phaseOf(state);
    if (phase?.kind !== this.open?.kind || phase?.detail !== this.open?.detail) {
      this.close(this.at);
      this.open = phase === null ? null : { ...phase, from: this.at };
    }
    this.wasParked = state.status === 'parked';
  }

  /** The latest time that an event tells of. */
  get last(): number {
    return this.at;
  }

  /** All there are, in order; one that goes on reaches to `now`. */
  spans(now: number): readonly Span[] {
    if (this.open === null) return this.closed;
    const { kind, detail, from } = this.open;
    return now <= from ? this.closed : [...this.closed, { kind, detail, from, to: now }];
  }

  /** A later owner: what was open broke off with the last word of the one before. */
  private claim({ epoch }: TaskEvent, { end }: TaskState, before: number): void {
    if (epoch <= 1 || end !== null || this.wasParked) return;
    this.close(before);
    if (before < this.at) {
      this.closed.push({ kind: 'away', detail: '', from: before, to: this.at });
    }
  }

  /** What took no time is not worth a mark. */
  private close(to: number): void {
    if (this.open !== null && to > this.open.from) this.closed.push({ ...this.open, to });
    this.open = null;
  }
}
