import { deferred, type Deferred } from './async.ts';

/** Options of a `BatchGate`. */
export interface BatchGateOptions {
  /** The length of the period in which pieces of work are counted, in milliseconds. */
  readonly periodMs: number;
  /** If one period has at least this number of pieces, the pieces of the next period begin together. */
  readonly threshold: number;
  /** The maximum time that a piece of work waits, in milliseconds. */
  readonly maxWaitMs: number;
}

/**
 * Decides when pieces of work begin. While there are few, each piece begins at once. While there are many,
 * several pieces begin together, which is cheaper if, for example, each start wakes a thread.
 */
export class BatchGate {
  private readonly options: BatchGateOptions;
  private period = { endsAt: -Infinity, pieces: 0 };
  private isBusy = false;
  private next: { readonly begins: Deferred<void>; readonly timer: NodeJS.Timeout } | null = null;

  constructor(options: BatchGateOptions) {
    this.options = options;
  }

  /** Resolves when a piece may begin; null if it may begin at once. */
  waitForRelease(): Promise<void> | null {
    this.countPiece();
    if (!this.isBusy) return null;
    this.next ??= {
      begins: deferred<void>(),
      timer: setTimeout(() => this.release(), this.options.maxWaitMs),
    };
    return this.next.begins.promise;
  }

  /** Lets all waiting pieces begin now, and resolves after they have begun. */
  async release(): Promise<void> {
    const { next } = this;
    if (next === null) return;
    this.next = null;
    clearTimeout(next.timer);
    next.begins.resolve();
    await next.begins.promise;
  }

  private countPiece(): void {
    const now = performance.now();
    if (now >= this.period.endsAt) {
      const { periodMs, threshold } = this.options;
      const isNextPeriod = now < this.period.endsAt + periodMs;
      this.isBusy = isNextPeriod && this.period.pieces >= threshold;
      this.period = { endsAt: now + periodMs, pieces: 0 };
    }
    this.period.pieces += 1;
  }
}
