import { expect, it } from 'vitest';
import { WatchStart } from '../../../src/api/tasks/watch-start.ts';

it.each([
  ['before it began', 0, 9_000, false],
  ['after it began', 0, 11_000, true],
  ['before it began, when the clock was set forwards since', 5_000, 9_000, false],
  ['after it began, when the clock was set forwards', 5_000, 16_000, true],
  ['after it began, when the clock was set back', -5_000, 6_000, true],
  ['long before it began, when the clock was set back since', -5_000, 4_000, false],
])('an event %s', (_, shift, ts, isNew) => {
  const clock = { set: 0, now: () => 10_000 + clock.set, monotonic: () => 10_000 };
  const begin = new WatchStart(clock);
  clock.set = shift;
  expect(begin.includes({ ts })).toBe(isNew);
});

it('an event before it began, when both clocks differ by a millisecond less than at the start', () => {
  const clock = { ahead: 500, now: () => 10_000 + clock.ahead, monotonic: () => 10_000 };
  const begin = new WatchStart(clock);
  clock.ahead = 499;
  expect(begin.includes({ ts: 10_499 })).toBe(false);
});
