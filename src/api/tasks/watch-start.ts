import { measureClockShift, MIN_SHIFT_MS, type Clock } from '../../base/clock.ts';

/**
 * The start of a watch, which separates new events from older events. If the wall clock is set back meanwhile, new
 * events have earlier times than the start. The limit is then moved back by the same amount: some older events count as
 * new, but no new event is missed.
 */
export class WatchStart {
  private readonly clock: Clock;
  private readonly at: number;
  private readonly shift: number;

  /** `at`: the time of the first event that counts as new. Default: now. */
  constructor(clock: Clock, at?: number) {
    this.clock = clock;
    const now = clock.now();
    this.at = at ?? now;
    this.shift = measureClockShift(clock, now);
  }

  /** Checks whether an event was written since the start. */
  includes({ ts }: { readonly ts: number }): boolean {
    const setBy = measureClockShift(this.clock) - this.shift;
    return ts >= this.at + (setBy <= -MIN_SHIFT_MS ? setBy : 0);
  }
}
