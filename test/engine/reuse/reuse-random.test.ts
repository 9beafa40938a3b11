import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ScriptedAnswer, ScriptedCall } from '../../scripted-model.ts';
import type { ModelRequest } from '../../../src/protocol/model.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { call, calls } from '../play.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import { randomRuns } from '../random-runs.ts';
import { promptOf } from '../support.ts';
import { delegate, scout, sourceOf, workspace } from './support.ts';

const RUNS = randomRuns(40);

const PATHS = ['a.ts', 'b.ts', 'd/a.ts', 'd/e/c.md', '.gitignore'];
const TEXTS = ['one\n', 'two\n', 'one two\n', 'a.ts\n', ''];

/** The calls that a model can make. */
const POOL: readonly ScriptedCall[] = [
  ...PATHS.map((path) => call('Read', { file_path: path })),
  call('Read', { file_path: 'a.ts', offset: 1, limit: 1 }),
  call('Read', { file_path: '.env' }),
  call('LS', {}),
  call('LS', { path: 'd' }),
  call('Glob', { pattern: '**/*.ts' }),
  call('Glob', { pattern: '*', path: 'd' }),
  call('Grep', { pattern: 'one' }),
  call('Grep', { pattern: 'two', output_mode: 'content' }),
  call('Grep', { pattern: 'o', output_mode: 'count', path: 'd' }),
  call('Read', { path: 'no such argument' }),
  call('TodoWrite', { todos: [{ content: 'look', status: 'pending' }] }),
  call('Bash', { command: 'cat a.ts' }),
  scout('deeper one'),
  scout('deeper two'),
];

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A model whose answer is a pure function of its prompt and of what it has read. */
function pureModel(seed: number): (request: ModelRequest) => ScriptedAnswer {
  return (request) => {
    const prompt = promptOf(request);
    const results = request.messages.flatMap((each) => (each.role === 'tool' ? each.content : []));
    const read = results.map(({ text, isError }) => `${isError}${withoutFacts(text)}`);
    const sum = digest(JSON.stringify([seed, prompt, read]));
    const rounds = prompt.startsWith('deeper') ? 2 : 4;
    const isEnough = results.length >= rounds || sum.readUInt8(0) < 40;
    if (isEnough) return { text: `So: ${sum.toString('hex')}` };
    // Most turns have one call, some have two.
    const chosen = [1, 2].slice(0, sum.readUInt8(1) < 60 ? 2 : 1);
    return calls(...chosen.map((at) => pick(sum.readUInt16BE(at * 2))));
  };
}

function pick(number: number): ScriptedCall {
  const found = POOL[number % POOL.length];
  if (found === undefined) throw new Error('an empty pool');
  return found;
}

/** Removes the summary line, because ids and times differ from task to task. */
function withoutFacts(text: string): string {
  return text.replace(/\n\n\[task [^\]]*\]$/, '');
}

const edit = fc.record({
  path: fc.constantFrom(...PATHS),
  text: fc.option(fc.constantFrom(...TEXTS)),
});
const step = fc.record({
  edits: fc.array(edit, { maxLength: 2 }),
  prompt: fc.constantFrom('look here', 'look there'),
});
const world = fc.record({
  files: fc.array(edit, { maxLength: 5 }),
  seed: fc.nat(),
  steps: fc.array(step, { minLength: 2, maxLength: 5 }),
});

let reused = 0;
let run = 0;

it('a reused result equals the result of a run, and a rerun gives it too', RUNS.test, async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ files, seed, steps }) => {
      const place = workspace({ 'a.ts': 'one\n', 'd/a.ts': 'two\n', '.env': 'KEY=1\n' });
      const apply = (edits: typeof files): void => {
        for (const { path, text } of edits) {
          if (text === null) fs.rmSync(join(place.root, path), { force: true });
          else place.write(path, text);
        }
      };
      apply(files);
      for (const { edits, prompt } of steps) {
        apply(edits);
        const main = [calls(scout(prompt))];
        const cached = await delegate(place, pureModel(seed), { main });
        const plain = await delegate({ ...place, store: openMemoryStore() }, pureModel(seed), {
          main,
          settings: { reusesResults: false },
        });
        expect(cached.state.result).toBe(plain.state.result);
        expect(cached.state.status).toBe(plain.state.status);
        const { tasks, lost } = await rerunTree(sourceOf(place), cached.state.spec.root);
        expect([lost, tasks.flatMap(({ difference }) => difference ?? [])]).toEqual([[], []]);
        if (cached.state.reused === null) run += 1;
        else {
          reused += 1;
          expect(cached.requests).toEqual([]);
        }
      }
    }),
    RUNS.runs,
  );
  expect({ hasReused: reused > 0, hasRun: run > 0 }).toEqual({ hasReused: true, hasRun: true });
});
