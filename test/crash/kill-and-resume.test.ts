import { expect, inject, it } from 'vitest';
import { errorMessage } from '../../src/base/errors.ts';
import { repeats } from './check-requests.ts';
import { inspectTree } from './inspect-tree.ts';
import { effectsIn } from './killed-run.ts';
import { killPlan, sooner, type KillPlan, type RunSize } from './kill-plan.ts';
import { Tally } from './tally.ts';
import { EFFECTS_MEANT, TASKS } from './tree-script.ts';
import { runTree } from './tree-run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    killsWithResume?: number;
  }
}

const KILLS = inject('killsWithResume') ?? 16;
/** `MUSTER_CRASH_SEED` repeats the moments of an earlier run of this test. */
const SEED = Number(process.env['MUSTER_CRASH_SEED'] ?? Date.now() % 1_000_000);
/** `MUSTER_CRASH_PLAN` repeats one run alone: the plan, as a failure tells it. */
const PLAN = process.env['MUSTER_CRASH_PLAN'];
const AT_ONCE = 4;

/** A run that is left alone, which has to be right, too. */
async function measureWholeRun(): Promise<RunSize> {
  await using run = await runTree({ kills: [] });
  expect({
    wrong: await inspectTree(run),
    effects: effectsIn(run.sandbox, TASKS).length,
    repeats: repeats(run.model.requests),
  }).toEqual({ wrong: [], effects: EFFECTS_MEANT, repeats: 0 });
  const [whole] = run.stretches;
  if (whole === undefined) throw new Error('a run without a process');
  return whole.seen;
}

/** Every other run of each kind of moment. */
function isConfined({ seed }: KillPlan): boolean {
  return seed % 2 === 1;
}

/** What is wrong after a run; null: it was over before its first moment. */
async function killAndResume(plan: KillPlan, tally: Tally): Promise<readonly string[] | null> {
  try {
    await using run = await runTree({ ...plan, isConfined: isConfined(plan) });
    tally.add(plan, run);
    const wrong = await inspectTree(run);
    return wrong.length === 0 && run.stretches[0]?.killedAt === null ? null : wrong;
  } catch (thrown) {
    return [errorMessage(thrown)];
  }
}

/** The plans of a whole test, one after another. */
function* plansFrom(seed: number, size: RunSize): Generator<KillPlan> {
  if (PLAN === undefined) for (let next = seed; ; next += 1) yield killPlan(next, size);
  yield JSON.parse(PLAN);
}

it(
  `kill -9 at ${KILLS} moments, then --continue: everything continues as if nothing had happened`,
  { timeout: 240_000 + KILLS * 10_000 },
  async () => {
    // Two at once, since later ones are not alone either: moments by time have to reach their ends.
    const [size] = await Promise.all([measureWholeRun(), measureWholeRun()]);
    const plans = plansFrom(SEED, size);
    const tally = new Tally();
    const wrong: unknown[] = [];
    const worker = async (): Promise<void> => {
      while (tally.kills < KILLS) {
        const { value } = plans.next();
        if (value === undefined) return;
        let plan: KillPlan = value;
        let found = await killAndResume(plan, tally);
        while (found === null) {
          plan = sooner(plan);
          found = await killAndResume(plan, tally);
        }
        if (found.length > 0) wrong.push({ plan: JSON.stringify(plan), found });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    console.log(`seed ${SEED}; ${tally.describe()}`);
    expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] });
  },
);
