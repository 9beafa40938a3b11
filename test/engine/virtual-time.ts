import { setImmediate as nextRound } from 'node:timers/promises';
import { deferred, onAbort } from '../../src/base/async.ts';
import type { Clock } from '../../src/base/clock.ts';
import { Deadlines, type Deadline } from '../../src/base/deadlines.ts';

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** The start of virtual time, in milliseconds since the epoch. */
const BEGIN = 1_700_000_000_000;

/** The maximum number of timers of a run. A run with more timers never ends. */
const MAX_TIMERS = 100_000;

/**
 * Virtual time: it stands still while anything is at work and jumps to the next timer when nothing is. A run takes no
 * real time and is the same each time. A run that waits for nothing is detected at once.
 */
export class VirtualTime implements Clock {
  private at = 0;
  private readonly timers: Timer[] = [];

  now(): number {
    return BEGIN + Math.floor(this.at);
  }

  monotonic(): number {
    return BEGIN + this.at;
  }

  /** Milliseconds since the start of virtual time. */
  get elapsedMs(): number {
    return this.at;
  }

  after(ms: number, fire: () => void): Deadline {
    const timer = { at: this.at + ms, fire };
    const later = this.timers.findIndex(({ at }) => at > timer.at);
    this.timers.splice(later === -1 ? this.timers.length : later, 0, timer);
    return {
      cancel: () => {
        const index = this.timers.indexOf(timer);
        if (index !== -1) this.timers.splice(index, 1);
      },
    };
  }

  /** Rejects with the signal's reason when it aborts. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const done = deferred<void>();
    const timer = this.after(ms, () => done.resolve());
    const forget =
      signal === undefined ? () => {} : onAbort(signal, () => done.reject(signal.reason));
    try {
      await done.promise;
    } finally {
      timer.cancel();
      forget();
    }
  }

  /** Lets time pass until `isDone` returns true. Throws when no timer is left that could change that. */
  async pass(isDone: () => boolean): Promise<void> {
    for (let fired = 0; fired < MAX_TIMERS; fired += 1) {
      await allAtRest();
      if (isDone()) return;
      const next = this.timers.shift();
      if (next === undefined) throw new Error('everything waits, and nothing will ever come');
      this.at = Math.max(this.at, next.at);
      next.fire();
    }
    throw new Error(`no end after ${MAX_TIMERS} timers`);
  }
}

/** Resolves when nothing is left to do in this round of the event loop. */
async function allAtRest(): Promise<void> {
  do await nextRound();
  while (process.getActiveResourcesInfo().includes('Immediate'));
}

/** The deadlines of the engine, in virtual time. */
export class VirtualDeadlines extends Deadlines {
  private readonly open = new Set<Deadline>();
  private readonly time: VirtualTime;

  constructor(time: VirtualTime) {
    super(time);
    this.time = time;
  }

  override after(ms: number, fire: () => void): Deadline {
    const timer = this.time.after(ms, () => {
      this.open.delete(deadline);
      fire();
    });
    const deadline = {
      cancel: () => {
        this.open.delete(deadline);
        timer.cancel();
      },
    };
    this.open.add(deadline);
    return deadline;
  }

  override get size(): number {
    return this.open.size;
  }
}
