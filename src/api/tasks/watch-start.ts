import { measureClockShift, type Clock } from '../../base/clock.ts';

/**
 * Tells whether events were written since a watch began. If the wall clock is set back meanwhile, what
 * is written after that has earlier times than the beginning; then older events of that span count, too,
 * since nothing of what is new may be left out.
 */
export class WatchStart {
  private readonly clock: Clock;
  private readonly at: number;
  private readonly shift: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.at = clock.now();
    this.shift = measureClockShift(clock, this.at);
  }

  /** Returns whether an event belongs to the watch. */
  includes({ ts }: { readonly ts: number }): boolean {
    return ts >= this.at + Math.min(0, measureClockShift(this.clock) - this.shift);
  }
}
