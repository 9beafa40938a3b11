import { expect, inject, it } from 'vitest';
import { errorMessage } from '../../src/base/errors.ts';
import { seededRandom } from './random.ts';
import { inspectRecorded, killAndGoOn, recordTree, type RecordedTree } from './recorded-tree.ts';

/** One of so many steps, beginning at another one each time. */
const STRIDE = inject('killsWithResume') === undefined ? 12 : 1;
/** `MUSTER_CRASH_SEED` repeats the moments of an earlier run of this test. */
const SEED = Number(process.env['MUSTER_CRASH_SEED'] ?? Date.now() % 1_000_000);
const AT_ONCE = 24;

async function wrongAfter(run: RecordedTree, steps: number): Promise<readonly string[]> {
  try {
    const again = await killAndGoOn(run, steps);
    const wrong = await inspectRecorded(again);
    if (wrong.length > 0) return wrong.map((what) => `after ${steps} steps: ${what}`);
    // Once more, somewhere in what came after the first death.
    const more = again.steps.length - steps;
    const next = steps + Math.floor(seededRandom(SEED + steps)() * more);
    const twice = await inspectRecorded(await killAndGoOn(again, next));
    return twice.map((what) => `after ${steps} steps, and ${next - steps} more: ${what}`);
  } catch (thrown) {
    return [`after ${steps} steps: ${errorMessage(thrown)}`];
  }
}

it.each([
  ['as usual', {}],
  ['one task at work at a time, and nothing awaited', { maxParallel: 1, foregroundMs: 2 }],
])(
  'a tree that dies after any step, and again, is continued as if nothing had happened: %s',
  { timeout: 300_000 },
  async (_, settings) => {
    const run = await recordTree(settings);
    expect(await inspectRecorded(run)).toEqual([]);
    const wrong: string[] = [];
    let next = SEED % STRIDE;
    const worker = async (): Promise<void> => {
      while (next < run.steps.length) {
        const steps = next;
        next += STRIDE;
        wrong.push(...(await wrongAfter(run, steps)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] });
  },
);
