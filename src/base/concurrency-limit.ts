import { deferred, type Deferred } from './async.ts';

/** Runs at most `count` pieces of work at a time; the rest wait in order. */
export class ConcurrencyLimit {
  #free: number;
  readonly #count: number;
  readonly #waiting: Deferred<void>[] = [];
  #emptied: Deferred<void> | undefined;

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else {
      const given = deferred<void>();
      this.#waiting.push(given);
      await given.promise;
    }
    try {
      return await work();
    } finally {
      this.#giveOn();
    }
  }

  /** Resolves once nothing runs and nothing waits. */
  waitUntilIdle(): Promise<void> {
    if (this.#free === this.#count) return Promise.resolve();
    this.#emptied ??= deferred<void>();
    return this.#emptied.promise;
  }

  #giveOn(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next.resolve();
      return;
    }
    this.#free += 1;
    if (this.#free < this.#count) return;
    this.#emptied?.resolve();
    this.#emptied = undefined;
  }
}
