import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heardTwice, wrongsOf } from './random-checks.ts';
import type { BatchCount } from './killable-store.ts';
import { calmPlan, hesitantPlan, ONE_AT_A_TIME, wildPlan } from './random-plans.ts';
import { randomRuns } from './random-runs.ts';
import type { Work } from './random-work.ts';
import { eventsOf, live, newWorld, stateOf, type Plan, type World } from './random-world.ts';

/** The moment at which a process is killed, and the number of events of the current batch that are still written. */
interface Kill {
  readonly moment: number;
  readonly several: boolean;
  readonly kept: number;
}

const kills = fc.array(
  fc.record({
    moment: fc.noBias(fc.integer({ min: 0, max: 999 })),
    several: fc.boolean(),
    kept: fc.nat(2),
  }),
  { minLength: 1, maxLength: 3, size: 'max' },
);

/**
 * Runs a plan to its end, with these deaths on the way.
 *
 * @param batches the number of batches in a run without deaths
 */
async function survive(plan: Plan, deaths: readonly Kill[], batches: BatchCount): Promise<World> {
  const world = newWorld(plan);
  for (const { moment, several, kept } of deaths) {
    // Never die in the first batch: a task whose id nobody knows can't be resumed.
    const first = several ? 1 : 2;
    const last = several ? batches.several : batches.all;
    const batch = first + Math.floor((moment / 1_000) * (last - first + 1));
    if (await live(world, { batch, several, kept })) return world;
  }
  await live(world, null);
  return world;
}

async function undisturbed(plan: Plan): Promise<World> {
  const world = newWorld(plan);
  await live(world, null);
  await world.store.close();
  return world;
}

/** Returns the result of the root without ids, which differ from run to run. */
function resultOf({ store, ids: [root = ''] }: World): string {
  return stateOf(store, root).result.replace(/kids.*/, '');
}

function hasUnknown(world: World): boolean {
  return world.ids.some((id) =>
    eventsOf(world.store, id).some(
      (event) => event.type === 'call.ended' && event.text.startsWith('Its outcome is unknown'),
    ),
  );
}

const RUNS = randomRuns(150);

/** A process that is killed after the message of a TaskSend to an ended task, before the resume of that task. */
const TORN_WAKE: [Plan, Kill[]] = [
  {
    work: workOf([
      [
        { kind: 'spawn', background: false, work: workOf([]) },
        { kind: 'resume', background: false, of: 0, work: workOf([]) },
      ],
      [
        { kind: 'send', of: 0, about: 0 },
        {
          kind: 'spawn',
          background: false,
          work: workOf([[{ kind: 'spawn', background: false, work: workOf([]) }]]),
        },
      ],
    ]),
    seed: 0,
    acts: [],
    settings: ONE_AT_A_TIME,
  },
  [
    { moment: 200, several: true, kept: 1 },
    { moment: 400, several: true, kept: 0 },
  ],
];

function workOf(turns: Work['turns']): Work {
  return { turns, end: 'text', maxTurns: null };
}

describe('a process that is killed at any moment', () => {
  it(
    'leaves logs from which another process reaches the same result, whatever is killed again',
    RUNS.test,
    async () => {
      await fc.assert(
        fc.asyncProperty(calmPlan, kills, async (plan, deaths) => {
          const whole = await undisturbed(plan);
          const world = await survive(plan, deaths, whole.batches);
          expect([...wrongsOf(world), ...heardTwice(world)]).toEqual([]);
          if (!hasUnknown(world)) expect(resultOf(world)).toBe(resultOf(whole));
          await world.store.close();
        }),
        RUNS.runs,
      );
    },
  );

  it('sends each message to the model or gives it back, never both', RUNS.test, async () => {
    await fc.assert(
      fc.asyncProperty(hesitantPlan, kills, async (plan, deaths) => {
        const whole = await undisturbed(plan);
        expect(wrongsOf(whole)).toEqual([]);
        const world = await survive(plan, deaths, whole.batches);
        expect(wrongsOf(world)).toEqual([]);
        await world.store.close();
      }),
      RUNS.runs,
    );
  });

  it('breaks no promise, whatever the tasks were doing', RUNS.test, async () => {
    await fc.assert(
      fc.asyncProperty(wildPlan, kills, async (plan, deaths) => {
        const { batches } = await undisturbed(plan);
        const world = await survive(plan, deaths, batches);
        expect(wrongsOf(world)).toEqual([]);
        await world.store.close();
      }),
      { ...RUNS.runs, examples: [TORN_WAKE] },
    );
  });
});
