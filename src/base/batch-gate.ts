import { deferred, type Deferred } from './async.ts';

export interface BatchGateOptions {
  /** In this time, in milliseconds, … */
  readonly periodMs: number;
  /** … so many pieces are many: in the next such time they begin together, … */
  readonly threshold: number;
  /** … each after so many milliseconds at most. */
  readonly maxWaitMs: number;
}

/**
 * Lets pieces of work begin: each at once while few come, and together while many do, for what costs less so
 * (one that wakes a thread, say, which then does all of them).
 */
export class BatchGate {
  private readonly options: BatchGateOptions;
  private period = { endsAt: -Infinity, asked: 0 };
  private areMany = false;
  private next: { readonly begins: Deferred<void>; readonly timer: NodeJS.Timeout } | null = null;

  constructor(options: BatchGateOptions) {
    this.options = options;
  }

  /** Resolves when a piece may begin; null: at once. */
  waitForRelease(): Promise<void> | null {
    this.count();
    if (!this.areMany) return null;
    this.next ??= {
      begins: deferred<void>(),
      timer: setTimeout(() => this.release(), this.options.maxWaitMs),
    };
    return this.next.begins.promise;
  }

  /** Lets all that wait begin now. Who awaits it goes on after them. */
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
