import { describe, expect, it } from 'vitest';
import { measureClockShift, measureOffset, systemClock } from '../../src/base/clock.ts';

describe('clockShift', () => {
  it.each([
    ['clocks that agree', 1_000, 1_000, 0],
    ['the rounding of two clocks', 1_040, 1_000.4, 0],
    ['a clock that was set forward', 3_601_000, 1_000.4, 3_600_000],
    ['a clock that was set back', 1_000, 3_601_000.4, -3_600_000],
    ['a clock that was set by a tenth of a second', 1_100, 1_000, 100],
  ])('%s', (_, now, monotonic, shift) => {
    expect(measureClockShift({ now: () => now, monotonic: () => monotonic })).toBe(shift);
  });
});

it('the monotonic clock of the system begins with the time of the wall clock', () => {
  expect(Math.abs(systemClock.now() - systemClock.monotonic())).toBeLessThan(60_000);
});

it('takes no pause between two readings for a clock that was set', () => {
  const readings = [1_000, 2_000];
  const clock = { now: () => readings.shift() ?? 2_000, monotonic: () => 2_000 };
  expect(measureClockShift(clock)).toBe(0);
});

it('the difference of two clocks does not contain a pause between their readings', () => {
  let time = 0;
  const pauses = [900, 1, 700];
  const now = () => {
    time += pauses.shift() ?? 0;
    return time + 5_000;
  };
  expect(measureOffset(now, () => time)).toBe(5_001);
});
