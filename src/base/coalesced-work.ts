/**
 * Work that is done for everybody who requested it: at once for the first request, and once for all requests
 * that come while it runs.
 */
export class CoalescedWork {
  private readonly work: () => Promise<void>;
  private running: Promise<void> | null = null;
  private next: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.work = work;
  }

  /** Requests the work. The promise settles like a run of the work that begins after this call. */
  request(): Promise<void> {
    if (this.next !== null) return this.next;
    if (this.running === null) return this.begin();
    this.next = this.later(this.running);
    return this.next;
  }

  private async later(running: Promise<void>): Promise<void> {
    // Whoever requested that run gets its error.
    await running.catch(() => {});
    this.next = null;
    await this.begin();
  }

  private begin(): Promise<void> {
    const running = this.work().finally(() => {
      this.running = null;
    });
    this.running = running;
    return running;
  }
}
