import { expect, it } from 'vitest';
import { formatClockTime, formatLocalMinute } from '../../../../../src/base/local-time.ts';
import { localTime } from '../../../../../src/front/cli/commands/tasks/log.ts';

const NOON = new Date(2026, 2, 1, 12, 5, 9, 120).getTime();

it.each([NaN, Infinity, 8.65e15, -1e300])(
  '%d is not a time, and gets a text of the same width',
  (ms) => {
    expect([formatClockTime(ms), formatLocalMinute(ms).trimEnd(), localTime(ms).trimEnd()]).toEqual(
      Array.from({ length: 3 }, () => 'no date'),
    );
    expect([formatLocalMinute(ms).length, localTime(ms).length]).toEqual([
      formatLocalMinute(NOON).length,
      localTime(NOON).length,
    ]);
  },
);

it('is shown in the local time zone', () => {
  expect([formatClockTime(NOON), formatLocalMinute(NOON), localTime(NOON)]).toEqual([
    '12:05:09',
    '2026-03-01 12:05',
    '12:05:09.120',
  ]);
});
