import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { readOptions } from '../../bench/harness/options.ts';
import { ROWS } from '../../bench/rows/index.ts';

function namesFor(...args: readonly string[]): readonly string[] {
  return readOptions(args, ROWS).rows.map((row) => row.name);
}

const ALL = [
  'start',
  'terminal',
  'delegation',
  'fan-out',
  'thousand',
  'request-size',
  'prefix',
  'cache',
  'main-context',
  'event-log',
  'limits',
  'listing',
  'agents',
  'decision',
  'stop',
  'liveness',
  'sandbox',
  'memory',
  'offline',
  'offline-large',
];

const LONG = new Set(['thousand', 'limits', 'offline-large']);

test('without names all rows but the long ones run', () => {
  expect(namesFor()).toEqual(ALL.filter((name) => !LONG.has(name)));
  expect(namesFor('--long')).toEqual(ALL);
});

test('named rows run, the long ones too, in the order of the table', () => {
  expect(namesFor('thousand', 'start')).toEqual(['start', 'thousand']);
});

test('files are taken from where the command runs', () => {
  expect(readOptions(['--json', 'out.json', '--bin', 'other/muster.js'], [])).toEqual({
    rows: [],
    json: resolve('out.json'),
    bin: resolve('other/muster.js'),
    help: false,
  });
});

test.each([['strat'], ['--fast'], ['--json']])('%s is a usage error', (argument) => {
  expect(() => readOptions([argument], ROWS)).toThrow(UsageError);
});
