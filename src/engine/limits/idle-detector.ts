export interface IdleDetectorOptions {
  /** Whether something waits that makes a standstill worth telling of. */
  isWaitedFor(): boolean;
  /** Nothing is at work, and nothing will be by itself. */
  onIdle(): void;
}

/**
 * Counts what is at work in a tree. A wait that only another task or a person can end is not at work;
 * one that ends by itself (a timer, a command, an answer of a model) is.
 */
export class IdleDetector {
  private readonly options: IdleDetectorOptions;
  private atWork = 0;
  private isCheckPending = false;

  constructor(options: IdleDetectorOptions) {
    this.options = options;
  }

  /** Counts as at work until it settles. */
  async trackWork<T>(work: () => Promise<T>): Promise<T> {
    this.atWork += 1;
    try {
      return await work();
    } finally {
      this.endWork();
    }
  }

  /** Within what is at work: does not count until it settles. The wait begins before it is left out. */
  async trackWait<T>(wait: () => Promise<T>): Promise<T> {
    const ended = wait();
    this.endWork();
    try {
      return await ended;
    } finally {
      this.atWork += 1;
    }
  }

  /**
   * Looked at once more when all that follows from what has just ended has had its turn: the end of a
   * child wakes its parent only then.
   */
  private endWork(): void {
    this.atWork -= 1;
    if (this.atWork > 0 || this.isCheckPending || !this.options.isWaitedFor()) return;
    this.isCheckPending = true;
    setImmediate(() => {
      this.isCheckPending = false;
      if (this.atWork === 0 && this.options.isWaitedFor()) this.options.onIdle();
    });
  }
}
