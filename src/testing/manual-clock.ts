import type { Clock } from '../base/clock.ts';

/** A clock that stands still until it is advanced. */
export interface ManualClock extends Clock {
  /** Lets a number of milliseconds pass. */
  advance(ms: number): void;
}

/**
 * Creates a clock for `MusterOptions.clock`, so that a test knows all times in a log.
 *
 * @param start the time at first, in milliseconds since the epoch. Default: the start of 2026
 * @example
 * import assert from 'node:assert/strict';
 * import { createMuster } from 'muster-agent';
 * import { manualClock, recordLog, scriptedModel } from 'muster-agent/testing';
 *
 * const clock = manualClock();
 * await using muster = await createMuster({ model: scriptedModel([{ text: 'Hello.' }]), clock });
 * const { events } = await recordLog(muster.run('Hi'));
 * assert.ok(events.every(({ ts }) => ts === clock.now()));
 */
export function manualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let now = start;
  return {
    now: () => now,
    monotonic: () => now,
    advance(ms) {
      now += ms;
    },
  };
}
