import { deferred, type Deferred } from './async.ts';

/** Runs at most `count` pieces of work at a time. Further pieces wait in the order in which they came. */
export class ConcurrencyLimit {
  #free: number;
  readonly #count: number;
  readonly #waiting: Deferred<void>[] = [];
  #idle: Deferred<void> | undefined;

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else {
      const slot = deferred<void>();
      this.#waiting.push(slot);
      await slot.promise;
    }
    try {
      return await work();
    } finally {
      this.#releaseSlot();
    }
  }

  /** Resolves once nothing runs and nothing waits. */
  waitUntilIdle(): Promise<void> {
    if (this.#free === this.#count) return Promise.resolve();
    this.#idle ??= deferred<void>();
    return this.#idle.promise;
  }

  #releaseSlot(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next.resolve();
      return;
    }
    this.#free += 1;
    if (this.#free < this.#count) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
