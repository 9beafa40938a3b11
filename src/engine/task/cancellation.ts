import type { Deadline, Deadlines } from '../../base/deadlines.ts';
import type { StopOrder } from './stop-order.ts';

/** The abort reason of a task that is left as it is, so that it can be resumed later. */
const PARKED = Symbol('parked');

export interface CancellationParts {
  readonly deadlines: Pick<Deadlines, 'after'>;
  /** True when the present turn can be interrupted without ending the task, as in a conversation. */
  readonly isInterruptible: boolean;
}

/** The signals that end a task, or only what it does now. */
export class Cancellation {
  private readonly parts: CancellationParts;
  private readonly task = new AbortController();
  private turn = new AbortController();
  private either: AbortSignal;
  private timeLimit: Deadline | null = null;
  private hasKilled = false;

  constructor(parts: CancellationParts) {
    this.parts = parts;
    this.either = this.combined();
  }

  /** Aborts when the task is stopped, fails or is parked. */
  get signal(): AbortSignal {
    return this.task.signal;
  }

  /** Aborts with `signal`, and also when only the present turn is interrupted. */
  get turnSignal(): AbortSignal {
    return this.either;
  }

  /** Stops the task. The reason is a `StopOrder`, or the error that the task fails with. The first call counts. */
  stop(reason: unknown): void {
    if (!this.task.signal.aborted) this.task.abort(reason);
  }

  /** Calls `stop`, which stops the task, when `ms` milliseconds have passed and the task has not ended. */
  callAfter(ms: number, stop: () => void): void {
    this.timeLimit = this.parts.deadlines.after(ms, stop);
  }

  /** Aborts everything that the task waits for, without an end in its log. */
  park(): void {
    this.task.abort(PARKED);
  }

  get isParked(): boolean {
    return this.signal.reason === PARKED;
  }

  /** Ends the present step of a conversation, which then continues. Does nothing for a subagent's task. */
  interruptTurn(order: StopOrder): void {
    if (this.parts.isInterruptible) this.turn.abort(order);
  }

  /** Returns true when the task's work was rejected with this reason because its turn was interrupted. */
  isInterruption(thrown: unknown): boolean {
    return !this.signal.aborted && this.turnSignal.aborted && thrown === this.turnSignal.reason;
  }

  /** Renews the signal of the turn before the next step, if the turn before was interrupted. */
  beginStep(): void {
    if (!this.turn.signal.aborted) return;
    this.turn = new AbortController();
    this.either = this.combined();
    // A process that had to be killed for an interruption does not make the task a killed one.
    this.hasKilled = false;
  }

  /** Records that a process did not stop when asked and was killed, so that the end of the task says so. */
  recordKill(): void {
    this.hasKilled = true;
  }

  get hasKilledProcess(): boolean {
    return this.hasKilled;
  }

  /** Cancels the time limit. */
  close(): void {
    this.timeLimit?.cancel();
  }

  private combined(): AbortSignal {
    if (!this.parts.isInterruptible) return this.task.signal;
    return AbortSignal.any([this.task.signal, this.turn.signal]);
  }
}
