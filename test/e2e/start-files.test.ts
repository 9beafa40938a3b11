import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { BIN, Sandbox } from './muster.ts';

/** Prints the name of each file of the program that is loaded, without the hash of its content. */
const REPORT_LOADED = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({
    load(url, context, next) {
      const name = /\\/dist\\/([a-z_-]+?)(?:-[\\w-]{8})?\\.js$/.exec(url)?.[1];
      if (name !== undefined) writeSync(2, 'loaded ' + name + '\\n');
      return next(url, context);
    },
  });
`)}`;

function loadedFiles(...argv: readonly string[]): readonly string[] {
  using sandbox = new Sandbox();
  const { stderr } = spawnSync(process.execPath, ['--import', REPORT_LOADED, BIN, ...argv], {
    encoding: 'utf8',
    env: sandbox.environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const names = stderr.split('\n').map((line) => /^loaded (.*)$/.exec(line)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

const HELP_FILES = ['boot', 'cli', 'commands', 'help', 'main', 'muster'];

it.each([
  [['--version'], ['boot', 'muster']],
  [['-v'], ['boot', 'muster']],
  [['--help'], HELP_FILES],
  [['-h'], HELP_FILES],
  [['help'], HELP_FILES],
  [['tasks', '--help'], HELP_FILES],
])('muster %j loads no part of the engine', (argv, expected) => {
  expect(loadedFiles(...argv)).toEqual(expected);
});

it.each([
  ['agents', 'list'],
  ['mcp', 'list'],
  ['-p', 'Where is x?', '--model', 'offline'],
])('muster %s loads no code of plugins if none was ever installed', (...argv) => {
  const loaded = loadedFiles(...argv);
  expect(loaded).toContain('muster');
  expect(loaded.filter((name) => name.includes('plugin'))).toEqual([]);
});

/** What the program meets on a Node that lacks what it is built on. */
const OLD_NODE = `data:text/javascript,${encodeURIComponent(`
  delete process.getBuiltinModule;
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.0.0' } });
`)}`;

it('a Node that is too old is told so before anything is loaded', () => {
  const { status, stderr } = spawnSync(process.execPath, ['--import', OLD_NODE, BIN], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([
    2,
    `muster needs Node 22.19 or newer; this is 18.0.0 (${process.execPath}).\n`,
  ]);
});

it.each([
  ['a closed pipe', '| true'],
  ['a closed stdout', '>&-'],
])('muster --version says nothing more to %s', (_, to) => {
  using sandbox = new Sandbox();
  const { stderr, stdout } = spawnSync(
    '/bin/bash',
    ['-c', `"$0" "$1" --version ${to}; echo "\${PIPESTATUS[0]}"`, process.execPath, BIN],
    { encoding: 'utf8', env: sandbox.environment() },
  );
  expect([stderr, stdout]).toEqual(['', '0\n']);
});
