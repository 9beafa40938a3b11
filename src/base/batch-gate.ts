import { deferred, type Deferred } from './async.ts';

/** Options of a `BatchGate`. */
export interface BatchGateOptions {
  /** The period over which pieces are counted, in milliseconds. */
  readonly periodMs: number;
  /** The number of pieces in one period from which the pieces of the next period begin together. */
  readonly threshold: number;
  /** The longest time that a piece waits, in milliseconds. */
  readonly maxWaitMs: number;
}

/**
 * Decides when pieces of work begin: each at once while there are few, and several together while there are
 * many. This suits work that is cheaper together, for example because it wakes a thread.
 */
export class BatchGate {
  private readonly options: BatchGateOptions;
  private period = { endsAt: -Infinity, asked: 0 };
  private areMany = false;
  private next: { readonly begins: Deferred<void>; readonly timer: NodeJS.Timeout } | null = null;

  constructor(options: BatchGateOptions) {
    this.options = options;
  }

  /** Resolves when a piece may begin; null if it may begin at once. */
  waitForRelease(): Promise<void> | null {
    this.count();
    if (!this.areMany) return null;
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

  private count(): void {
    const now = performance.now();
    if (now >= this.period.endsAt) {
      const { periodMs, threshold: many } = this.options;
      const followed = now < this.period.endsAt + periodMs;
      this.areMany = followed && this.period.asked >= many;
      this.period = { endsAt: now + periodMs, asked: 0 };
    }
    this.period.asked += 1;
  }
}
