/**
 * The number of pieces that are started in one round of the event loop. Rounds are cheap, and four pieces delay
 * nobody.
 */
const PER_ROUND = 4;
/** Finished pieces are removed from the list this many at a time, because each removal moves all the others. */
const KEPT_DONE = 1_024;

/**
 * Runs work in the order in which it was added, a few pieces in each round of the event loop.
 *
 * Without it, one round delivers everything that arrived since the last round before anything else runs. If a
 * thousand answers end together, all of them would be read, then all written, and the first next request would
 * be sent only after the last answer is read; keys and timers would wait as long. With the queue, the first
 * requests are sent before the fifth answer is handled.
 */
export class LoopQueue {
  private readonly waiting: (() => void)[] = [];
  /** The index in `waiting` of the next piece. */
  private next = 0;
  /** The number of pieces that the coming round will start. */
  private asked = 0;

  add(work: () => void): void {
    this.waiting.push(work);
    this.ask();
  }

  /** Resolves when this call's turn in the queue comes. */
  waitForTurn(): Promise<void> {
    return new Promise((resolve) => this.add(resolve));
  }

  private ask(): void {
    if (this.asked >= Math.min(PER_ROUND, this.waiting.length - this.next)) return;
    this.asked += 1;
    setImmediate(this.takeUp);
  }

  private readonly takeUp = (): void => {
    const work = this.waiting[this.next];
    this.next += 1;
    this.asked -= 1;
    if (this.next === this.waiting.length || this.next === KEPT_DONE) {
      this.waiting.splice(0, this.next);
      this.next = 0;
    }
    // The next round is requested first, because an error in this piece must not delay the others.
    this.ask();
    work?.();
  };
}
