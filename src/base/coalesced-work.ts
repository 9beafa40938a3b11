/**
 * Runs work on request and combines requests: the first request starts a run at once, and all requests that come
 * during that run share one more run after it.
 */
export class CoalescedWork {
  private readonly work: () => Promise<void>;
  private running: Promise<void> | null = null;
  private next: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.work = work;
  }

  /** Requests a run of the work. The promise settles with the first run that begins at or after this call, and never with
   * a run that is already in progress. */
  request(): Promise<void> {
    if (this.next !== null) return this.next;
    if (this.running === null) return this.start();
    this.next = this.runAfter(this.running);
    return this.next;
  }

  private async runAfter(running: Promise<void>): Promise<void> {
    // The callers that requested the current run get its error.
    await running.catch(() => {});
    this.next = null;
    await this.start();
  }

  private start(): Promise<void> {
    const running = this.work().finally(() => {
      this.running = null;
    });
    this.running = running;
    return running;
  }
}
