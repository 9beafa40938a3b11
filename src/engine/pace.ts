import type { Clock } from '../base/clock.ts';

/** How long one piece of work may keep everything else waiting. */
const MOST_MS = 8;

/**
 * Lets others work in the middle of much that is done without a pause, as a thousand tasks are made:
 * answers stream in meanwhile, and a stop is heard.
 */
export class Pace {
  private readonly clock: Clock;
  private since = -Infinity;
  private yielding: Promise<void> | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** To be awaited before each piece. At once, unless others have waited for too long. */
  async step(): Promise<void> {
    // What came after a yield that is under way must not overtake what waits for it.
    while (this.yielding !== null) await this.yielding;
    const now = this.clock.monotonic();
    if (this.since === -Infinity) this.startRound(now);
    else if (now - this.since > MOST_MS) await this.rest();
  }

  private startRound(now: number): void {
    this.since = now;
    setImmediate(() => {
      this.since = -Infinity;
    });
  }

  private async rest(): Promise<void> {
    this.yielding = new Promise((resolve) => setImmediate(resolve));
    await this.yielding;
    this.yielding = null;
    this.startRound(this.clock.monotonic());
  }
}
