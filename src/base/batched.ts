import type { Clock } from './clock.ts';
import type { Deadlines } from './deadlines.ts';

/** How long it rests after it was done, in times of what it took: it takes a fifth of the time at most. */
const REST_SHARE = 4;
/** None waits longer for it to begin. */
const MOST_REST_MS = 25;

/**
 * Work that is done for all who have asked for it: at once for the first, and together for those who
 * ask while it runs and in the rest after it, so that it does not take up all of the time.
 */
export class Batched {
  private readonly time: { readonly clock: Clock; readonly deadlines: Deadlines };
  private readonly work: () => Promise<void>;
  /** Before that it is not begun again. By the monotonic clock. */
  private restsUntil = -Infinity;
  private running: Promise<void> | null = null;
  private next: Promise<void> | null = null;

  constructor(time: { clock: Clock; deadlines: Deadlines }, work: () => Promise<void>) {
    this.time = time;
    this.work = work;
  }

  /** Settles as the work does, which begins after this call. */
  ask(): Promise<void> {
    if (this.next !== null) return this.next;
    if (this.running === null && this.rest() <= 0) return this.begin();
    this.next = this.later();
    return this.next;
  }

  private async later(): Promise<void> {
    // Who asked for it hears of its failure.
    await this.running?.catch(() => {});
    const rest = this.rest();
    if (rest > 0) {
      await new Promise<void>((resolve) => void this.time.deadlines.after(rest, resolve));
    }
    this.next = null;
    await this.begin();
  }

  private begin(): Promise<void> {
    const began = this.time.clock.monotonic();
    this.running = this.work().finally(() => {
      const ended = this.time.clock.monotonic();
      this.restsUntil = ended + Math.min(MOST_REST_MS, (ended - began) * REST_SHARE);
      this.running = null;
    });
    return this.running;
  }

  private rest(): number {
    return this.restsUntil - this.time.clock.monotonic();
  }
}
