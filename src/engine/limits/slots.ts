import { deferred, onAbort, type Deferred } from '../../base/async.ts';

interface Waiter {
  readonly granted: Deferred<void>;
  readonly resuming: boolean;
}

/**
 * A fixed number of slots. Whoever finds none free queues in order; those that had a slot before go ahead of
 * those that never had one. The tasks of a tree share such slots (`max_parallel`): a task that waits for its
 * children releases its slot, so that a tree full of waiting parents can't deadlock.
 */
export class Slots {
  private readonly size: number;
  private free: number;
  private readonly waiting: Waiter[] = [];

  constructor(size: number) {
    this.size = size;
    this.free = size;
  }

  /** The number of slots that are in use. */
  get taken(): number {
    return this.size - this.free;
  }

  /** True when all slots are in use. */
  get isFull(): boolean {
    return this.free === 0;
  }

  /**
   * Takes a slot, and queues for it if none is free. Rejects with the signal's reason when it aborts in the
   * queue; then no slot is held.
   *
   * @param resuming whether the caller had a slot before
   */
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

  /** Takes a slot at once, or returns null when none is free. */
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
