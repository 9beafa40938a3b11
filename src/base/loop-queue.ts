/**
 * The number of pieces of work that are started in one round of the event loop. More rounds cost little, and four
 * pieces do not noticeably delay other work.
 */
const PER_ROUND = 4;
/**
 * The number of started pieces that are removed from the list together, because each removal moves all other pieces.
 */
const REMOVED_TOGETHER = 1_024;

/**
 * Runs work in the order in which it was added, a few pieces in each round of the event loop.
 *
 * Without this queue, one round delivers everything that arrived since the last round before anything else runs. If a
 * thousand answers end together, all of them would be read, then all written, and the first next request would
 * be sent only after the last answer is read; keys and timers would wait as long. With the queue, the first
 * requests are sent before the fifth answer is handled.
 */
export class LoopQueue {
  private readonly waiting: (() => void)[] = [];
  /** The index in `waiting` of the next piece. */
  private next = 0;
  /** The number of pieces that the next round will start. */
  private requested = 0;

  add(work: () => void): void {
    this.waiting.push(work);
    this.requestRound();
  }

  /** Resolves when this call's turn in the queue comes. */
  waitForTurn(): Promise<void> {
    return new Promise((resolve) => this.add(resolve));
  }

  private requestRound(): void {
    if (this.requested >= Math.min(PER_ROUND, this.waiting.length - this.next)) return;
    this.requested += 1;
    setImmediate(this.startNext);
  }

  private readonly startNext = (): void => {
    const work = this.waiting[this.next];
    this.next += 1;
    this.requested -= 1;
    if (this.next === this.waiting.length || this.next === REMOVED_TOGETHER) {
      this.waiting.splice(0, this.next);
      this.next = 0;
    }
    // The next round is requested first, because an error in this piece must not delay the others.
    this.requestRound();
    work?.();
  };
}
