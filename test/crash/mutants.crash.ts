import { expect, it } from 'vitest';
import { inspectTree } from './inspect-tree.ts';
import { killPlan, type RunSize } from './kill-plan.ts';
import { buildMutant, MUTATIONS, type Mutant, type Mutation } from './mutants.ts';
import { runTree } from './tree-run.ts';

/** About what a run has; it need not be exact. */
const SIZE: RunSize = { time: 1_500, line: 240, log: 350, request: 36, effect: 13 };
/** Some rules are broken in sight only where one of a few moments is met: in every tenth run, or in every hundredth. */
const MAX_RUNS = 600;
const AT_ONCE = 3;

/** The first that is found wrong with it. */
async function firstWrong({ bin }: Mutant, { kinds }: Mutation): Promise<readonly string[]> {
  const found: string[] = [];
  let seed = 0;
  const worker = async (): Promise<void> => {
    while (found.length === 0 && seed < MAX_RUNS) {
      const { kills } = killPlan(seed, SIZE);
      seed += 1;
      const [first] = kills;
      if (first === undefined || !kinds.includes(first.kind)) continue;
      await using run = await runTree({ kills: [first], bin });
      found.push(...(await inspectTree(run)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}

it.each(MUTATIONS)(
  'the check notices when it does not hold that $name',
  { timeout: 300_000 },
  async (mutation) => {
    using mutant = await buildMutant(mutation);
    const found = await firstWrong(mutant, mutation);
    console.log(`${mutation.name}: ${found[0]?.slice(0, 200)}`);
    expect(found).not.toEqual([]);
  },
);
