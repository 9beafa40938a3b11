import { deferred, type Deferred } from './async.ts';

/** Runs at most a given number of pieces of work at a time; the others wait in order. */
export class AtOnce {
  private free: number;
  private readonly waiting: Deferred<void>[] = [];

  constructor(most: number) {
    this.free = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    const turn = deferred<void>();
    this.waiting.push(turn);
    await turn.promise;
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next.resolve();
  }
}
