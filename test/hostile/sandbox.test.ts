import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSandbox } from '../../src/sys/sandbox/open-sandbox.ts';
import { answerStartCheck } from '../../src/sys/processes/start-check.ts';
import type { Confinement } from '../../src/sys/sandbox/sandbox.ts';
import { needs } from '../needs.ts';
import { SHELL_COMMANDS, SHELL_FILES } from './cases/shell-commands.ts';
import { fuzzedCommands } from './command-grammar.ts';
import { environmentOf } from './play.ts';
import { differences, HostileWorld } from './world.ts';

const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');
/** Commands that share one start of the sandbox. */
const A_START = 100;
/** Its exit code when nobody answers its start check: no command has run. */
const START_CHECK_FAILED = 125;
/** Below the workspace, what a command may not write even where it may write there. */
const PROTECTED = /^ws\/(\.git\/(config|hooks)|\.claude|\.vscode|\.mcp\.json|\.npmrc)/;

/** Runs each of its arguments as a command line, whatever they do to one another. */
const RUN_ALL = `for line in "$@"; do
  timeout -k 0.1 0.4 /bin/bash --noprofile --norc -c "$line" < /dev/null > /dev/null 2>&1
done`;

/** Runs all of them unjudged in the sandbox and gives the paths that differ afterwards. */
async function runAll(
  world: HostileWorld,
  commands: readonly string[],
  access: Confinement['access'],
): Promise<readonly string[]> {
  const root = world.place('ws');
  const sandbox = openSandbox({
    kind: 'auto',
    platform: process.platform,
    path: '/usr/bin:/bin',
    roots: [root],
    records: join(world.place('data'), 'records'),
    hostPaths: {
      homes: [world.place('home')],
      stateDirectories: [world.place('data')],
      runtimeDirectories: [],
      sockets: [],
    },
  });
  const state = await sandbox.state();
  expect(state, JSON.stringify(state)).toMatchObject({ on: true });
  const before = world.snapshot();
  for (let from = 0; from < commands.length; from += A_START) {
    const lines = commands.slice(from, from + A_START).map((line) => world.fill(line));
    const { file, args, env, release } = sandbox.confine({
      argv: ['/bin/bash', '--noprofile', '--norc', '-c', RUN_ALL, 'bash', ...lines],
      cwd: root,
      env: environmentOf(world, {}),
      confinement: { access, roots: [root], network: false },
      stderr: 'command',
    });
    const child = spawn(file, args, {
      env,
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      detached: true,
    });
    const asking = child.stdio[3];
    if (!(asking instanceof Duplex)) throw new Error('descriptor 3 of the command is no socket');
    answerStartCheck(asking);
    expect(await once(child, 'close')).not.toEqual([START_CHECK_FAILED, null]);
    release();
  }
  return differences(before, world.snapshot());
}

const ALL = [...SHELL_COMMANDS.map(({ command }) => command), ...fuzzedCommands(200)];

describe.runIf(HAS_BUBBLEWRAP)('the sandbox alone, without any judgment of commands,', () => {
  it('changes not one byte if it is read-only', async () => {
    using world = new HostileWorld(SHELL_FILES);
    expect(await runAll(world, ALL, 'read-only')).toEqual([]);
  });

  it('changes nothing except the workspace, and nothing protected in it', async () => {
    using world = new HostileWorld(SHELL_FILES);
    const changed = await runAll(world, ALL.slice(0, 150), 'workspace');
    expect(changed.length).toBeGreaterThan(5);
    expect(changed.filter((path) => !path.startsWith('ws') || PROTECTED.test(path))).toEqual([]);
  });
});
