import assert from 'node:assert/strict';
import { test } from 'node:test';
import { next, parseCron } from '../src/cron.ts';

test('every quarter of an hour on workdays', () => {
  const schedule = parseCron('*/15 9-17 * * MON-FRI');
  assert.equal(next(schedule, new Date('2026-03-06T17:45:00Z'))?.toISOString(), '2026-03-09T09:00:00.000Z');
  assert.equal(next(schedule, new Date('2026-03-09T09:00:00Z'))?.toISOString(), '2026-03-09T09:15:00.000Z');
});
