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

describe('Sleep', () => {
  test('sleeps by the clock of the task', async () => {
    const slept: number[] = [];
    const sleep = async (ms: number): Promise<void> => void slept.push(ms);
    const at = makeWorkspace();
    expect(await at.call('Sleep', { seconds: 1.5 }, { sleep })).toEqual({
      text: '1.5 s have passed.',
    });
    expect(await at.call('Sleep', { duration: '300' }, { sleep })).toEqual({
      text: '300 s have passed.',
    });
    expect(slept).toEqual([1500, 300_000]);
  });

  test.each([
    ['soon', 'seconds: is of the wrong type: "soon"; valid: number of at least 0 and at most 300'],
  ])('refuses %j', async (seconds, text) => {
    expect(await makeWorkspace().call('Sleep', { seconds })).toEqual({
      text,
      error: 'INVALID_PARAM',
    });
  });

  test.each([
    [301, '300 s have passed.\n[seconds: 301 is above the maximum, 300 was used]', 300_000],
    [-1, '0 s have passed.\n[seconds: -1 is below the minimum, 0 was used]', 0],
  ])('replaces %j by the nearest valid number and says so', async (seconds, text, ms) => {
    const slept: number[] = [];
    const sleep = async (each: number) => void slept.push(each);
    expect(await makeWorkspace().call('Sleep', { seconds }, { sleep })).toEqual({ text });
    expect(slept).toEqual([ms]);
  });

  test('ends at once when the call is cancelled', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const sleep = (): Promise<void> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        controller.abort(new Error('stopped'));
      });
    expect(await makeWorkspace().call('Sleep', { seconds: 300 }, { signal, sleep })).toEqual({
      text: 'Sleep was cancelled.',
      error: 'CANCELLED',
    });
  });
});
