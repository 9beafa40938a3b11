import { expect, test } from 'vitest';
import { tempDirectory } from '../../sys/temp.ts';
import { runAndRecover, runUnharmed } from './kill-runs.ts';

// The other moments are in the part `kills` of the world tests.
test('a killed landing is aborted completely', async () => {
  const reference = await runUnharmed(tempDirectory);
  expect(reference.after).not.toEqual(reference.before);
  const call = Math.floor(reference.calls.land * 0.9);
  const plan = { action: 'land', recovery: 'abort', moment: { call } } as const;
  expect(await runAndRecover(reference, plan, tempDirectory)).toEqual({
    reached: reference.before,
    expected: [reference.before],
    wasUnfinished: true,
    leftovers: [],
  });
});
