const MINUTE_MS = 60_000;

/**
 * When the last requests were sent, so that in no minute more than `most` are. Monotonic milliseconds.
 * Memory for those of one minute; none where `most` is 0, which means no limit.
 */
export class Minute {
  most: number;
  private sent: number[] = [];
  /** Where in `sent` those of the last minute begin. */
  private first = 0;

  constructor(most: number) {
    this.most = most;
  }

  /** When one more may be sent than those about to be; not after `now`: at once. */
  freeAt(now: number, { reserved }: { readonly reserved: number }): number {
    if (this.most === 0) return now;
    this.forget(now);
    const before = this.sent.length + reserved - this.most;
    if (before < 0) return now;
    return (this.sent[before] ?? now) + MINUTE_MS;
  }

  add(now: number): void {
    if (this.most > 0) this.sent.push(now);
  }

  private forget(now: number): void {
    while ((this.sent[this.first] ?? now) <= now - MINUTE_MS) this.first += 1;
    if (this.first < 1_000 && this.first < this.sent.length) return;
    this.sent = this.sent.slice(this.first);
    this.first = 0;
  }
}
