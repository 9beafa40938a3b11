import { deferred, onAbort, type Deferred } from '../../base/async.ts';

interface Waiter {
  readonly granted: Deferred<void>;
  readonly resuming: boolean;
}

/**
 * The tasks of one tree that may be at work at the same time (`max_parallel`); the rest queue in
 * order, those that had a slot before ahead of those that never had one. A task that waits for its
 * children gives its slot back, so that a full tree of waiting parents can't deadlock.
 */
export class Slots {
  private readonly size: number;
  private free: number;
  private readonly waiting: Waiter[] = [];

  constructor(size: number) {
    this.size = size;
    this.free = size;
  }

  /** Tasks that have one. */
  get taken(): number {
    return this.size - this.free;
  }

  /** Whether a new task would have to queue now. */
  get isFull(): boolean {
    return this.free === 0;
  }

  /** Rejects with the signal's reason when it aborts while queued; then no slot is held. */
  async acquire(signal: AbortSignal, { resuming }: { readonly resuming: boolean }): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.takeFree();
    if (free !== null) return free;
    const waiter: Waiter = { granted: deferred(), resuming };
    this.enqueue(waiter);
    const forget = onAbort(signal, () => {
      const index = this.waiting.indexOf(waiter);
      if (index === -1) return;
      this.waiting.splice(index, 1);
      waiter.granted.reject(signal.reason);
    });
    await waiter.granted.promise.finally(forget);
    return new Slot(() => this.release());
  }

  /** Null where a task would have to queue. */
  takeFree(): Slot | null {
    if (this.free === 0) return null;
    this.free -= 1;
    return new Slot(() => this.release());
  }

  private enqueue(waiter: Waiter): void {
    const behind = waiter.resuming ? this.waiting.findIndex((other) => !other.resuming) : -1;
    if (behind === -1) this.waiting.push(waiter);
    else this.waiting.splice(behind, 0, waiter);
  }

  private release(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next.granted.resolve();
  }
}

/** A held slot. `release` twice does nothing. */
export class Slot {
  private onRelease: (() => void) | null;

  constructor(onRelease: () => void) {
    this.onRelease = onRelease;
  }

  release(): void {
    this.onRelease?.();
    this.onRelease = null;
  }
}
