/** The maximum number of messages that are read out one by one; more of them are only counted. */
const MAX_READ_OUT = 3;

/**
 * Collects what a screen reader is to say, so that a busy run does not talk without a pause. `take` returns what has come
 * since the last time as one text.
 */
export class Announcer {
  private waiting: string[] = [];
  private count = 0;

  /** Adds a sentence without the period. Further ones are only counted once there are enough. */
  add(text: string): void {
    this.count += 1;
    // The newest messages are the ones that matter.
    this.waiting = [...this.waiting, text].slice(-MAX_READ_OUT);
  }

  /** Returns the text to say; empty if nothing has come. */
  take(): string {
    const earlier = this.count - this.waiting.length;
    const texts = [
      ...(earlier > 0 ? [`${earlier} earlier ${earlier === 1 ? 'change' : 'changes'}`] : []),
      ...this.waiting,
    ];
    this.waiting = [];
    this.count = 0;
    return texts.map((text) => `${text}.`).join(' ');
  }
}
