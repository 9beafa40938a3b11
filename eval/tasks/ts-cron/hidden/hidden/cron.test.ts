import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CronError, next, nextRuns, parseCron } from '../src/cron.ts';

const runs = (text: string, after: string, count: number) =>
  nextRuns(parseCron(text), new Date(after), count).map((date) => date.toISOString().slice(0, 16).replace('T', ' '));

test('minutes and hours', () => {
  assert.deepEqual(runs('* * * * *', '2026-01-01T00:00:00Z', 2), ['2026-01-01 00:01', '2026-01-01 00:02']);
  assert.deepEqual(runs('* * * * *', '2025-12-31T23:59:30.5Z', 1), ['2026-01-01 00:00']);
  assert.deepEqual(runs('0 0 * * *', '2026-01-01T00:00:00Z', 1), ['2026-01-02 00:00']);
  assert.deepEqual(runs('0 0 * * *', '2025-12-31T23:59:59.999Z', 1), ['2026-01-01 00:00']);
  assert.deepEqual(runs('10-40/10 5 * * *', '2026-01-01T05:15:00Z', 4), ['2026-01-01 05:20', '2026-01-01 05:30', '2026-01-01 05:40', '2026-01-02 05:10']);
  assert.deepEqual(runs('5/20 0 * * *', '2026-01-01T00:00:00Z', 4), ['2026-01-01 00:05', '2026-01-01 00:25', '2026-01-01 00:45', '2026-01-02 00:05']);
  assert.deepEqual(runs('3,1,2,1 0 * * *', '2026-01-01T00:00:00Z', 3), ['2026-01-01 00:01', '2026-01-01 00:02', '2026-01-01 00:03']);
  assert.deepEqual(runs('  0\t*/7   * *  * ', '2026-01-01T00:00:00Z', 4), ['2026-01-01 07:00', '2026-01-01 14:00', '2026-01-01 21:00', '2026-01-02 00:00']);
});

test('months and days', () => {
  assert.deepEqual(runs('0 12 31 * *', '2026-01-31T12:00:00Z', 2), ['2026-03-31 12:00', '2026-05-31 12:00']);
  assert.deepEqual(runs('0 0 1 jan,JUL *', '2026-01-01T00:00:00Z', 2), ['2026-07-01 00:00', '2027-01-01 00:00']);
  assert.deepEqual(runs('0 0 29 2 *', '2026-01-01T00:00:00Z', 2), ['2028-02-29 00:00', '2032-02-29 00:00']);
  assert.deepEqual(runs('0 0 * * 7', '2026-03-01T00:00:00Z', 1), ['2026-03-08 00:00']);
  assert.deepEqual(runs('0 0 * * 0', '2026-03-01T00:00:00Z', 1), ['2026-03-08 00:00']);
  assert.deepEqual(runs('0 0 * * 5-7', '2026-03-01T00:00:00Z', 4), ['2026-03-06 00:00', '2026-03-07 00:00', '2026-03-08 00:00', '2026-03-13 00:00']);
  assert.deepEqual(runs('0 0 * * sun', '2026-03-01T00:00:00Z', 1), ['2026-03-08 00:00']);
  assert.deepEqual(runs('0 0 * * 6/1', '2026-03-01T00:00:00Z', 2), ['2026-03-07 00:00', '2026-03-08 00:00']);
});

test('a day of the month or a weekday', () => {
  assert.deepEqual(runs('0 0 13 * FRI', '2026-03-01T00:00:00Z', 4), ['2026-03-06 00:00', '2026-03-13 00:00', '2026-03-20 00:00', '2026-03-27 00:00']);
  assert.deepEqual(runs('0 0 15 * FRI', '2026-03-12T00:00:00Z', 3), ['2026-03-13 00:00', '2026-03-15 00:00', '2026-03-20 00:00']);
  assert.deepEqual(runs('0 0 */2 * FRI', '2026-03-01T00:00:00Z', 2), ['2026-03-13 00:00', '2026-03-27 00:00']);
  assert.deepEqual(runs('0 0 13 * */5', '2026-03-01T00:00:00Z', 2), ['2026-03-13 00:00', '2026-09-13 00:00']);
});

test('never, and rarely', () => {
  assert.equal(next(parseCron('0 0 30 2 *'), new Date('2026-01-01T00:00:00Z')), null);
  assert.equal(next(parseCron('0 0 31 4,6,9,11 *'), new Date('2026-01-01T00:00:00Z')), null);
  assert.deepEqual(runs('0 0 30 2 *', '2026-01-01T00:00:00Z', 5), []);
  const rare = parseCron('0 0 29 2 */7');
  const before = performance.now();
  for (let year = 2000; year < 2200; year += 1) next(rare, new Date(Date.UTC(year, 0, 1)));
  assert.ok(performance.now() - before < 5000);
  assert.equal(next(rare, new Date('2010-01-01T00:00:00Z')), null);
  assert.equal(next(rare, new Date('2025-01-01T00:00:00Z'))?.toISOString(), '2032-02-29T00:00:00.000Z');
  assert.equal(next(parseCron('0 0 29 2 *'), new Date('2097-01-01T00:00:00Z'))?.toISOString(), '2104-02-29T00:00:00.000Z');
  assert.throws(() => next(parseCron('* * * * *'), new Date(Number.NaN)), RangeError);
});

test('the result does not depend on the schedule being used before', () => {
  const schedule = parseCron('30 4 1,15 * *');
  const first = nextRuns(schedule, new Date('2026-01-01T00:00:00Z'), 3);
  assert.deepEqual(nextRuns(schedule, new Date('2026-01-01T00:00:00Z'), 3), first);
  assert.deepEqual(nextRuns(schedule, new Date('2026-01-01T00:00:00Z'), 0), []);
});

const WRONG: readonly (readonly [string, string])[] = [
  ['60 * * * *', 'minute'], ['* 24 * * *', 'hour'], ['* * 0 * *', 'day'], ['* * 32 * *', 'day'], ['* * * 0 *', 'month'],
  ['* * * 13 *', 'month'], ['* * * * 8', 'weekday'], ['* * * FOO *', 'month'], ['* * * * JAN', 'weekday'], ['5-1 * * * *', 'minute'],
  ['*/0 * * * *', 'minute'], ['1, * * * *', 'minute'], [', * * * *', 'minute'], ['1-2-3 * * * *', 'minute'], ['1/2/3 * * * *', 'minute'],
  ['-1 * * * *', 'minute'], ['1.5 * * * *', 'minute'], ['0x1 * * * *', 'minute'], ['*/x * * * *', 'minute'], ['** * * * *', 'minute'],
  ['* * * *', 'fields'], ['* * * * * *', 'fields'], ['', 'fields'], ['* 1e1 * * *', 'hour'],
];
for (const [text, field] of WRONG) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseCron(text), (thrown: unknown) => thrown instanceof CronError && thrown.message.includes(field));
  });
}
