import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../workspace.ts';

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
