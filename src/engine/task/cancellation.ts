import type { Deadline, Deadlines } from '../../base/deadlines.ts';
import type { StopOrder } from './stop-order.ts';

/** The abort reason of a task whose process stops work on it without an end, so that it can be resumed later. */
const PARKED = Symbol('parked');

/** The parts of a `Cancellation`. */
export interface CancellationParts {
  readonly deadlines: Pick<Deadlines, 'after'>;
  /** True when the current turn can be interrupted without ending the task, as in a conversation. */
  readonly isInterruptible: boolean;
}

/** The abort signals of a task: one for the task, and one for its current turn. */
export class Cancellation {
  private readonly parts: CancellationParts;
  private readonly task = new AbortController();
  private turn = new AbortController();
  private combinedSignal: AbortSignal;
  private readonly timeLimits: Deadline[] = [];
  private hasKilled = false;

  constructor(parts: CancellationParts) {
    this.parts = parts;
    this.combinedSignal = this.combineSignals();
  }

  /** Aborts when the task is stopped, fails or is parked. */
  get signal(): AbortSignal {
    return this.task.signal;
  }

  /** Aborts with `signal`, and also when only the current turn is interrupted. */
  get turnSignal(): AbortSignal {
    return this.combinedSignal;
  }

  /**
   * Stops the task. Only the first call has an effect.
   *
   * @param reason a `StopOrder`, or the error with which the task fails
   */
  stop(reason: unknown): void {
    if (!this.task.signal.aborted) this.task.abort(reason);
  }

  /** Adds a time limit of the task: calls `act` after `ms` milliseconds, unless the task has ended by then. */
  callAfter(ms: number, act: () => void): void {
    this.timeLimits.push(this.parts.deadlines.after(ms, act));
  }

  /** Aborts everything that the task waits for. Its log gets no end. */
  park(): void {
    this.task.abort(PARKED);
  }

  get isParked(): boolean {
    return this.signal.reason === PARKED;
  }

  /** Ends the current step of a conversation, which then continues. Does nothing for a subagent's task. */
  interruptTurn(order: StopOrder): void {
    if (this.parts.isInterruptible) this.turn.abort(order);
  }

  /** Returns true if `thrown` is the reason with which the current turn was interrupted. */
  isInterruption(thrown: unknown): boolean {
    return !this.signal.aborted && this.turnSignal.aborted && thrown === this.turnSignal.reason;
  }

  /** Creates a new signal for the turn before the next step, if the last turn was interrupted. */
  beginStep(): void {
    if (!this.turn.signal.aborted) return;
    this.turn = new AbortController();
    this.combinedSignal = this.combineSignals();
    // A process that was killed because of an interruption does not give the task the status `killed`.
    this.hasKilled = false;
  }

  /**
   * Records that a process had to be killed because it did not stop when asked. The status of the task is then
   * `killed`.
   */
  recordKill(): void {
    this.hasKilled = true;
  }

  get hasKilledProcess(): boolean {
    return this.hasKilled;
  }

  /** Cancels the time limits. */
  close(): void {
    for (const limit of this.timeLimits) limit.cancel();
  }

  private combineSignals(): AbortSignal {
    if (!this.parts.isInterruptible) return this.task.signal;
    return AbortSignal.any([this.task.signal, this.turn.signal]);
  }
}
