export interface IdleDetectorOptions {
  /** Returns whether a question waits for which an idle tree should be parked. */
  hasOpenQuestion(): boolean;
  /** Called when nothing is at work and nothing will start by itself. */
  onIdle(): void;
}

/**
 * Counts the work in progress in a tree, to notice when all of it waits for a person. A wait that ends by
 * itself (a timer, a command, a model's answer) counts as work. A wait that only another task or a person can
 * end does not.
 */
export class IdleDetector {
  private readonly options: IdleDetectorOptions;
  private atWork = 0;
  private isCheckPending = false;

  constructor(options: IdleDetectorOptions) {
    this.options = options;
  }

  /** Counts `work` as in progress until it settles. */
  async trackWork<T>(work: () => Promise<T>): Promise<T> {
    this.atWork += 1;
    try {
      return await work();
    } finally {
      this.endWork();
    }
  }

  /** Runs a wait inside of work, which does not count until the wait settles. The wait starts first. */
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
   * Ends one unit of work. The check for idleness is deferred until everything that follows from this end has
   * run, since the end of a child wakes its parent only then.
   */
  private endWork(): void {
    this.atWork -= 1;
    if (this.atWork > 0 || this.isCheckPending || !this.options.hasOpenQuestion()) return;
    this.isCheckPending = true;
    setImmediate(() => {
      this.isCheckPending = false;
      if (this.atWork === 0 && this.options.hasOpenQuestion()) this.options.onIdle();
    });
  }
}
