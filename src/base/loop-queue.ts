/** How many pieces one round of the event loop takes up: rounds are cheap, and four hold up nobody. */
const PER_ROUND = 4;
/** Pieces that are done are taken out of the list so many at a time, as each time moves all the rest. */
const KEPT_DONE = 1_024;

/**
 * Work in the order in which it came, a few pieces in each round of the event loop.
 *
 * Left to itself, a round hands out all that has come in since the last one before it looks at anything
 * else: of a thousand answers that end together it reads them all, then writes them all down, and sends
 * the first next request when the last answer is read; a key or a timer waits as long. With a queue
 * between, the first requests are on their way before the fifth answer is looked at.
 */
export class LoopQueue {
  private readonly waiting: (() => void)[] = [];
  /** Where in `waiting` the next piece stands. */
  private next = 0;
  /** Pieces that the coming round takes up. */
  private asked = 0;

  add(work: () => void): void {
    this.waiting.push(work);
    this.ask();
  }

  /** Resolves when it is taken up, as a piece of its own. */
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
    // Before it is done: what it throws must not keep the rest waiting.
    this.ask();
    work?.();
  };
}
