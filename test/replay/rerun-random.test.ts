import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapToolsByName, type RerunSource } from '../../src/replay/idle-deps.ts';
import { rerunTaskLog, rerunTree } from '../../src/replay/rerun-tree.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { wildPlan } from '../engine/random-plans.ts';
import { randomRuns } from '../engine/random-runs.ts';
import { eventsOf, live, newWorld, worldTools, type World } from '../engine/random-world.ts';
import { SETTINGS } from '../engine/support.ts';
import { FOUND_PLANS } from './found-plans.ts';

const RUNS = randomRuns(120);

const death = fc.record({
  batch: fc.integer({ min: 1, max: 60 }),
  several: fc.boolean(),
  kept: fc.nat(2),
});

describe('a rerun of any tree of tasks', () => {
  it('writes the same events', RUNS.test, async () => {
    await fc.assert(
      fc.asyncProperty(wildPlan, async (plan) => {
        const world = newWorld(plan);
        await live(world, null);
        await expectSame(world);
      }),
      RUNS.runs,
    );
  });

  it('writes the same events as processes that died and continued', RUNS.test, async () => {
    await fc.assert(
      fc.asyncProperty(wildPlan, fc.array(death, { maxLength: 3 }), async (plan, deaths) => {
        const world = newWorld(plan);
        for (const each of deaths) await live(world, each);
        await live(world, null);
        await expectSame(world);
      }),
      { ...RUNS.runs, examples: FOUND_PLANS },
    );
  });

  it('reports a call whose outcome differs', RUNS.test, async () => {
    await fc.assert(
      fc.asyncProperty(wildPlan, fc.nat(), async (plan, which) => {
        const world = newWorld(plan);
        await live(world, null);
        const outcomes = world.ids.flatMap((id) => heardOutcomes(eventsOf(world.store, id)));
        const edited = outcomes[which % outcomes.length];
        if (edited === undefined) {
          await world.store.close();
          return;
        }
        const other = { ...edited, text: `${edited.text} (edited)` };
        const events = eventsOf(world.store, edited.task).with(edited.seq, other);
        const { difference } = await rerunTaskLog(sourceOf(world), events);
        await world.store.close();
        expect(difference?.type).toBe('turn.accepted');
        expect(difference?.lines.join('\n')).toContain(`(event ${edited.seq})`);
      }),
      RUNS.runs,
    );
  });
});

async function expectSame(world: World): Promise<void> {
  const { tasks, lost } = await rerunTree(sourceOf(world), world.ids[0] ?? '');
  expect(lost).toEqual([]);
  expect(tasks.flatMap(({ difference }) => difference ?? [])).toEqual([]);
  expect(tasks.map(({ task }) => task).toSorted()).toEqual(world.ids.toSorted());
  await world.store.close();
}

function sourceOf({ store, plan }: World): RerunSource {
  const settings = { ...SETTINGS, ...plan.settings };
  return { store, settings, tools: mapToolsByName({ store, settings }, worldTools()) };
}

/** Returns the outcomes that were part of an accepted request. */
function heardOutcomes(events: readonly TaskEvent[]) {
  const accepted = events.findLast(({ type }) => type === 'turn.accepted')?.seq ?? -1;
  const started = events.findLast(({ seq, type }) => seq < accepted && type === 'turn.started');
  return events.flatMap((event) =>
    event.type === 'call.ended' && event.seq < (started?.seq ?? -1) ? [event] : [],
  );
}
