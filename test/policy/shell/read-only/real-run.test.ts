import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { proveReadOnly } from '../../../../src/policy/shell/read-only/prove.ts';
import { parseShellLine } from '../../../../src/policy/shell/parse-line.ts';
import { tempDirectory } from '../../../sys/temp.ts';
import { EVERYDAY } from './everyday.ts';
import { commandLine } from './random-lines.ts';
import { runInBash } from './real-bash.ts';
import { gitVariables, makeTree, treeHash } from './small-tree.ts';

const FIXED_SEED = 20_260_801;
/** Of the made-up lines so many at least are proved and run, or the test says little. */
const MIN_PROVED = 0.1;

interface World {
  readonly all: string;
  readonly project: string;
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A home with a project in it, and a directory of its own for temporary files. */
function makeWorld(): World {
  const top = tempDirectory();
  const all = join(top, 'home');
  const project = join(all, 'project');
  for (const directory of [project, join(all, 'tmp')]) mkdirSync(directory, { recursive: true });
  makeTree(project, all);
  const env = { ...gitVariables(all), TMPDIR: join(all, 'tmp') };
  return { all, project, scratch: join(top, 'scratch'), env };
}

/** The lines after which the tree was another; each of them is run once more, alone, to find out. */
async function changing(world: World, lines: readonly string[]): Promise<readonly string[]> {
  const { all, project, scratch, env } = world;
  const before = treeHash(all);
  await runInBash(scratch, lines, { cwd: project, env });
  if (treeHash(all) === before) return [];
  if (lines.length <= 1) return lines;
  const middle = Math.ceil(lines.length / 2);
  const halves = [lines.slice(0, middle), lines.slice(middle)];
  const found = await Promise.all(halves.map((half) => changing(makeWorld(), half)));
  return found.flat();
}

const isProved = (line: string): boolean => proveReadOnly(line, parseShellLine).proven;

test('every everyday command leaves each name, mode and byte as it was', async () => {
  expect(await changing(makeWorld(), EVERYDAY)).toEqual([]);
});

test.each([
  ['a fixed seed', FIXED_SEED, 2000],
  ['a new seed', Date.now() % 1_000_000_007, 500],
])(
  'whatever is proved leaves everything as it was: %s',
  async (_, seed, count) => {
    const lines = fc.sample(commandLine, { seed, numRuns: count });
    const proved = [...new Set(lines)].filter(isProved);
    expect(proved.length, `seed ${seed}`).toBeGreaterThan(count * MIN_PROVED);
    expect(await changing(makeWorld(), proved), `seed ${seed}`).toEqual([]);
  },
  120_000,
);

test('a command that does change something is found', async () => {
  expect(await changing(makeWorld(), ['ls', 'touch x', 'pwd'])).toEqual(['touch x']);
});
