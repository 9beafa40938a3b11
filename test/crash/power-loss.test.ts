import { expect, it } from 'vitest';
import { brokenPromises, promisesOf } from './promises.ts';
import { recordRun } from './recorded-run.ts';
import { losingSync } from './sabotage.ts';
import { IN_A_LINE, THREE_LEVELS } from './scenario.ts';

it('everything that was promised survives a loss of power', async () => {
  const run = await recordRun(THREE_LEVELS);
  const promises = promisesOf(run);
  expect(new Set(promises.map(({ event }) => event.type))).toEqual(
    new Set(['turn.ended', 'call.started', 'child.created', 'call.ended', 'task.ended']),
  );
  expect(brokenPromises(run, promises)).toEqual([]);
});

it('each sync that the engine asks for is needed to keep its promises', async () => {
  const all = losingSync(-1);
  expect(brokenPromises(await recordRun(IN_A_LINE, all.wrap))).toEqual([]);
  const needless: number[] = [];
  for (let number = 0; number < all.asked(); number += 1) {
    const run = await recordRun(IN_A_LINE, losingSync(number).wrap);
    if (brokenPromises(run).length === 0) needless.push(number);
  }
  expect(all.asked()).toBeGreaterThan(25);
  expect(needless).toEqual([]);
});
