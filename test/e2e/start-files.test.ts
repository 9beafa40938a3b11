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

it.each([
  [['--version'], ['boot', 'cli', 'main', 'muster']],
  [['--help'], ['boot', 'cli', 'commands', 'help', 'main', 'muster']],
])('muster %j loads no part of the engine', (argv, expected) => {
  expect(loadedFiles(...argv)).toEqual(expected);
});
