import { systemClock, type Clock } from './clock.ts';
import { deferred, onAbort } from './async.ts';

/** A deadline that can be cancelled. `cancel` does nothing if the deadline has already fired or been cancelled. */
export interface Deadline {
  cancel(): void;
}

interface Entry {
  dueAt: number;
  index: number;
  fire: (() => void) | null;
}

/**
 * Keeps all deadlines of a process in one binary heap with one timer, so that thousands of tasks do not need
 * thousands of timers. The timer keeps the process alive only while there is a deadline.
 */
export class Deadlines {
  private readonly heap: Entry[] = [];
  private timer: NodeJS.Timeout | null = null;
  private timerAt = Infinity;
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Calls `fire` once, after at least `ms` milliseconds. */
  after(ms: number, fire: () => void): Deadline {
    const entry: Entry = { dueAt: this.clock.monotonic() + ms, index: this.heap.length, fire };
    this.heap.push(entry);
    this.moveUp(entry);
    this.arm();
    return { cancel: () => this.remove(entry) };
  }

  get size(): number {
    return this.heap.length;
  }

  private remove(entry: Entry): void {
    if (entry.fire === null) return;
    entry.fire = null;
    const last = this.heap.pop();
    if (last !== undefined && last !== entry) {
      this.place(last, entry.index);
      this.moveUp(last);
      this.moveDown(last);
    }
    this.arm();
  }

  /**
   * Sets the timer for the first deadline. A timer that would fire too early is kept: it finds nothing due and is set
   * again.
   */
  private arm(): void {
    const next = this.heap[0];
    if (next === undefined) {
      if (this.timer !== null) clearTimeout(this.timer);
      this.timer = null;
      this.timerAt = Infinity;
      return;
    }
    if (next.dueAt >= this.timerAt) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timerAt = next.dueAt;
    const wait = Math.min(Math.max(next.dueAt - this.clock.monotonic(), 0), MAX_TIMER_MS);
    this.timer = setTimeout(() => this.expire(), Math.ceil(wait));
  }

  private expire(): void {
    this.timer = null;
    this.timerAt = Infinity;
    const now = this.clock.monotonic();
    for (let next = this.heap[0]; next !== undefined && next.dueAt <= now; next = this.heap[0]) {
      const fire = next.fire;
      this.remove(next);
      fire?.();
    }
    this.arm();
  }

  private place(entry: Entry, index: number): void {
    entry.index = index;
    this.heap[index] = entry;
  }

  private moveUp(entry: Entry): void {
    while (entry.index > 0) {
      const above = this.heap[(entry.index - 1) >> 1];
      if (above === undefined || above.dueAt <= entry.dueAt) return;
      this.swap(entry, above);
    }
  }

  private moveDown(entry: Entry): void {
    for (;;) {
      const left = this.heap[2 * entry.index + 1];
      const right = this.heap[2 * entry.index + 2];
      const below =
        left !== undefined && right !== undefined && right.dueAt < left.dueAt ? right : left;
      if (below === undefined || below.dueAt >= entry.dueAt) return;
      this.swap(entry, below);
    }
  }

  private swap(a: Entry, b: Entry): void {
    const index = a.index;
    this.place(a, b.index);
    this.place(b, index);
  }
}

/** The maximum delay of a timer in Node, in milliseconds. A timer with a longer delay would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Starts a single deadline `ms` milliseconds from now. Unlike a timer, the deadline does not count the time for
 * which this process was stopped.
 */
export function startDeadline(ms: number, fire: () => void): Deadline {
  return new Deadlines(systemClock).after(ms, fire);
}

/** A deadline that does not count the time of waits. */
export class PausableDeadline implements Deadline {
  private readonly deadlines: Deadlines;
  private readonly clock: Clock;
  private readonly fire: () => void;
  private remainingMs: number;
  private countedFrom = 0;
  private current: Deadline | null = null;
  private isOver = false;

  constructor(
    { deadlines, clock }: { readonly deadlines: Deadlines; readonly clock: Clock },
    ms: number,
    fire: () => void,
  ) {
    this.deadlines = deadlines;
    this.clock = clock;
    this.remainingMs = ms;
    this.fire = fire;
    this.start();
  }

  cancel(): void {
    this.isOver = true;
    this.current?.cancel();
  }

  /** Does not count the time in which `wait` runs. Waits must not overlap. */
  async pauseDuring<T>(wait: () => Promise<T>): Promise<T> {
    this.current?.cancel();
    this.remainingMs -= this.clock.monotonic() - this.countedFrom;
    try {
      return await wait();
    } finally {
      if (!this.isOver) this.start();
    }
  }

  private start(): void {
    this.countedFrom = this.clock.monotonic();
    this.current = this.deadlines.after(Math.max(this.remainingMs, 0), () => {
      this.isOver = true;
      this.fire();
    });
  }
}

/** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as the signal aborts. */
export async function sleep(deadlines: Deadlines, ms: number, signal: AbortSignal): Promise<void> {
  const done = deferred<void>();
  const deadline = deadlines.after(ms, () => done.resolve());
  const removeListener = onAbort(signal, () => done.reject(signal.reason));
  try {
    await done.promise;
  } finally {
    deadline.cancel();
    removeListener();
  }
}
