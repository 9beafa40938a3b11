import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../workspace.ts';

describe('CurrentTime', () => {
  const now = Date.UTC(2026, 10, 22, 10, 26, 45, 678);
  const at = (time: number) => ({ clock: { now: () => time, monotonic: () => 0 } });

  test.each([
    ['UTC', '2026-11-22T10:26:45+00:00, Sunday, UTC, Unix time 1795343205'],
    ['Asia/Kolkata', '2026-11-22T15:56:45+05:30, Sunday, Asia/Calcutta, Unix time 1795343205'],
    ['America/New_York', '2026-11-22T05:26:45-05:00, Sunday, America/New_York, Unix time'],
    ['Pacific/Kiritimati', '2026-11-23T00:26:45+14:00, Monday, Pacific/Kiritimati, Unix time'],
    ['europe/berlin', '2026-11-22T11:26:45+01:00, Sunday, Europe/Berlin, Unix time 1795343205'],
    ['+02:00', '2026-11-22T12:26:45+02:00, Sunday, +02:00, Unix time 1795343205'],
  ])('in %s', async (timezone, text) => {
    const output = await makeWorkspace().call('CurrentTime', { timezone }, at(now));
    expect(output).toEqual({ text: expect.stringContaining(text) });
  });

  test('follows summer time', async () => {
    const summer = Date.UTC(2026, 6, 1, 0, 0, 0);
    const output = await makeWorkspace().call('CurrentTime', { tz: 'Europe/Berlin' }, at(summer));
    expect(output.text).toContain('2026-07-01T02:00:00+02:00, Wednesday, Europe/Berlin');
  });

  test('uses the local zone by default', async () => {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const output = await makeWorkspace().call('CurrentTime', {}, at(now));
    expect(output.text).toContain(`, ${timeZone}, Unix time 1795343205`);
  });

  test('suggests similar names for an unknown zone', async () => {
    expect(await makeWorkspace().call('CurrentTime', { timezone: 'Europe/Berlni' })).toEqual({
      text: expect.stringMatching(
        /^timezone: "Europe\/Berlni" is not known; .*Near it: Europe\/Berlin/,
      ),
      error: 'INVALID_PARAM',
    });
  });
});
