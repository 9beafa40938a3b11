import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LoopQueue } from '../../src/base/loop-queue.ts';

const PER_ROUND = 4;

/** What is done in each round of the event loop, until one goes by with nothing done. */
async function rounds(done: readonly number[]): Promise<readonly (readonly number[])[]> {
  const all: (readonly number[])[] = [];
  for (let before = -1; before < done.length;) {
    before = done.length;
    await nextRound();
    if (done.length > before) all.push(done.slice(before));
  }
  return all;
}

it('runs a few pieces in each round of the loop, in the order in which they came', async () => {
  const queue = new LoopQueue();
  const done: number[] = [];
  for (let piece = 0; piece < 10; piece += 1) queue.add(() => done.push(piece));
  expect(done).toEqual([]);
  expect(await rounds(done)).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ]);
});

it('loses and reorders no piece, whenever they come and however many', async () => {
  // How many each piece adds when it is done.
  const plan = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 3_000 }), plan, async (first, adds) => {
      const queue = new LoopQueue();
      const done: number[] = [];
      let added = 0;
      const add = (count: number) => {
        for (let one = 0; one < count; one += 1) {
          const piece = added;
          added += 1;
          queue.add(() => {
            done.push(piece);
            add(adds[piece] ?? 0);
          });
        }
      };
      add(first);
      const seen = await rounds(done);
      expect(done).toEqual(Array.from({ length: added }, (_, piece) => piece));
      expect(Math.max(0, ...seen.map(({ length }) => length))).toBeLessThanOrEqual(PER_ROUND);
    }),
    { numRuns: 40 },
  );
});

it('finishes the consequences of a piece before it runs the next', async () => {
  const queue = new LoopQueue();
  const seen: string[] = [];
  const work = async (name: string) => {
    await queue.waitForTurn();
    seen.push(`${name} begins`);
    await Promise.resolve();
    await Promise.resolve();
    seen.push(`${name} is done`);
  };
  await Promise.all([work('a'), work('b')]);
  expect(seen).toEqual(['a begins', 'a is done', 'b begins', 'b is done']);
});

it('continues after a piece that throws', async () => {
  const module = JSON.stringify(join(import.meta.dirname, '../../src/base/loop-queue.ts'));
  const script = `
    import { LoopQueue } from ${module};
    process.on('uncaughtException', ({ message }) => console.log(message));
    const queue = new LoopQueue();
    for (let piece = 0; piece < 6; piece += 1) {
      queue.add(() => {
        if (piece < 5) throw new Error('fault ' + piece);
        console.log('the last');
      });
    }`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const faults = [0, 1, 2, 3, 4].map((piece) => `fault ${piece}`);
  expect(stdout.trim().split('\n')).toEqual([...faults, 'the last']);
});
