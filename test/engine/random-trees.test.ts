import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heardTwice, wrongsOf } from './random-checks.ts';
import { calmPlan, wildPlan } from './random-plans.ts';
import { randomRuns } from './random-runs.ts';
import { live, newWorld, stateOf } from './random-world.ts';

const RUNS = randomRuns(150);

describe('any tree of tasks', () => {
  it('ends, and keeps every promise until then', RUNS.test, async () => {
    await fc.assert(
      fc.asyncProperty(wildPlan, async (plan) => {
        const world = newWorld(plan);
        await live(world, null);
        expect(wrongsOf(world)).toEqual([]);
        await world.store.close();
      }),
      RUNS.runs,
    );
  });

  it(
    'gives the same result whatever is faster, if nothing depends on the order',
    RUNS.test,
    async () => {
      await fc.assert(
        fc.asyncProperty(calmPlan, fc.nat(), async (plan, seed) => {
          const results = [];
          for (const each of [plan.seed, seed]) {
            const world = newWorld({ ...plan, seed: each });
            await live(world, null);
            expect([...wrongsOf(world), ...heardTwice(world)]).toEqual([]);
            const [root = ''] = world.ids;
            results.push(stateOf(world.store, root).result.replace(/kids.*/, ''));
            await world.store.close();
          }
          expect(results[0]).toBe(results[1]);
        }),
        RUNS.runs,
      );
    },
  );
});
