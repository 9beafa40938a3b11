import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { readOptions } from '../../bench/harness/options.ts';
import { ROWS } from '../../bench/rows/index.ts';

function namesFor(...args: readonly string[]): readonly string[] {
  return readOptions(args, ROWS).rows.map((row) => row.name);
}

const ALL = [
  'version',
  'start',
  'start-repository',
  'terminal',
  'terminal-stream',
  'delegation',
  'first-delegation',
  'working-children',
  'warm-children',
  'editing-children',
  'long-session',
  'resume',
  'large-output',
  'fan-out',
  'thousand',
  'library',
  'request-size',
  'server-tools',
  'prefix',
  'cache',
  'main-context',
  'event-log',
  'tracing',
  'limits',
  'listing',
  'agents',
  'decision',
  'stop',
  'liveness',
  'sandbox',
  'process-isolation',
  'command-changes',
  'worktree',
  'worktree-large',
  'memory',
  'offline',
  'offline-large',
];

const LONG = new Set(['thousand', 'library', 'limits', 'worktree-large', 'offline-large']);

const COMPARABLE = [
  'version',
  'start',
  'start-repository',
  'delegation',
  'first-delegation',
  'working-children',
  'fan-out',
  'thousand',
  'memory',
];

test('without names, all rows except the long ones run', () => {
  expect(namesFor()).toEqual(ALL.filter((name) => !LONG.has(name)));
  expect(namesFor('--long')).toEqual(ALL);
});

test('named rows run, the long ones too, in the order of the table', () => {
  expect(namesFor('thousand', 'start')).toEqual(['start', 'thousand']);
});

test('a comparison runs the rows that can compare builds', () => {
  expect(namesFor('--against', 'old')).toEqual(COMPARABLE.filter((name) => !LONG.has(name)));
  expect(namesFor('--against', 'old', '--long')).toEqual(COMPARABLE);
  expect(namesFor('--against', 'old', 'thousand')).toEqual(['thousand']);
});

test('paths are relative to the current directory', () => {
  const args = ['--json', 'out.json', '--bin', 'other/muster.js', '--against', 'old', '--rounds'];
  expect(readOptions([...args, '21'], [])).toEqual({
    rows: [],
    json: resolve('out.json'),
    bin: resolve('other/muster.js'),
    baselineBin: resolve('old/dist/muster.js'),
    rounds: 21,
    isHelp: false,
  });
});

test.each([['strat'], ['--fast'], ['--json'], ['--rounds=0'], ['--rounds=2.5'], ['--rounds=many']])(
  '%s is a usage error',
  (argument) => {
    expect(() => readOptions([argument], ROWS)).toThrow(UsageError);
  },
);

test('a row that cannot compare builds is not run with --against', () => {
  expect(() => readOptions(['--against', 'old', 'sandbox'], ROWS)).toThrow(
    'the row sandbox cannot compare two builds; run it without --against',
  );
});
