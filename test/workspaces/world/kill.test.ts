import { describe, expect, test } from 'vitest';
import { tempDirectory } from '../../sys/temp.ts';
import { runAndRecover, runUnharmed, type KillPlan, type Reference } from '../landing/kill-runs.ts';

/** The number of runs that are killed by a timer and not at a call. */
const TIMED = 40;
/** The first and the last moment in milliseconds. A process starts within the first ones. */
const EARLIEST_MS = 100;
const LATEST_MS = 900;
/** The number of runs of which the recovery is killed too. */
const KILLED_TWICE = 60;
/** Landing again differs from landing only in its journal, so it is killed before every third call. */
const STEPS = { land: 1, undo: 1, again: 3 } as const;

function listPlans({ calls }: Reference): readonly KillPlan[] {
  const actions = ['land', 'undo', 'again'] as const;
  const recoveries = ['continue', 'abort'] as const;
  const each = actions.flatMap((action) =>
    recoveries.flatMap((recovery) =>
      Array.from(
        { length: Math.ceil((calls[action] + 1) / STEPS[action]) },
        (_, index): KillPlan => ({
          action,
          recovery,
          moment: { call: index * STEPS[action] + 1 },
        }),
      ),
    ),
  );
  const timed = Array.from({ length: TIMED }, (_, index): KillPlan => {
    const ms = EARLIEST_MS + Math.random() * (LATEST_MS - EARLIEST_MS);
    return { action: index % 2 === 0 ? 'land' : 'undo', recovery: 'abort', moment: { ms } };
  });
  const twice = Array.from({ length: KILLED_TWICE }, (_, index): KillPlan => {
    const action = index % 2 === 0 ? 'land' : 'undo';
    const call = 1 + Math.floor(Math.random() * calls[action]);
    const recoveryCall = 1 + Math.floor(Math.random() * calls[action]);
    const recovery = index % 4 < 2 ? 'continue' : 'abort';
    return { action, recovery, moment: { call }, recoveryCall };
  });
  return [...each, ...timed, ...twice];
}

describe('a landing, an undoing or another landing that is killed at any moment', () => {
  test('reaches exactly the state before or after it', async () => {
    const reference = await runUnharmed(tempDirectory);
    expect(reference.after).not.toEqual(reference.before);
    const plans = listPlans(reference);
    const problems: unknown[] = [];
    let unfinished = 0;
    const queue = [...plans];
    const work = async (): Promise<void> => {
      for (let plan = queue.pop(); plan !== undefined; plan = queue.pop()) {
        // oxlint-disable-next-line no-await-in-loop -- two runs at a time
        const run = await runAndRecover(reference, plan, tempDirectory);
        if (run.wasUnfinished) unfinished += 1;
        const reached = JSON.stringify(run.reached);
        const isExpected = run.expected.some((each) => JSON.stringify(each) === reached);
        if (!isExpected || run.leftovers.length > 0) problems.push({ plan, ...run });
      }
    };
    await Promise.all([work(), work()]);
    expect(problems).toEqual([]);
    expect(plans.length).toBeGreaterThanOrEqual(300);
    // Most moments are within the landing. Otherwise nothing would be tested.
    expect(unfinished).toBeGreaterThan(plans.length / 3);
  }, 3_600_000);
});
