import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import type { ShellExit, ShellPort, ToolContext } from '../../../src/protocol/tool.ts';
import { findProcesses } from '../../../src/sys/processes/process-table.ts';
import { needs } from '../../needs.ts';
import { makeWorkspace, tool } from '../workspace.ts';

/** A process that has left its group is found by its mark in /proc as well. */
const HAS_SETSID = process.platform === 'linux' && needs('setsid', 'util-linux');

interface TestShell {
  readonly shells: ShellPort;
  readonly controller: AbortController;
  readonly commands: string[];
  output(): string;
  exit(): Promise<ShellExit>;
}

/** A port that starts every shell and records its output. */
function testShell(): TestShell {
  const controller = new AbortController();
  const commands: string[] = [];
  let written = '';
  let ended: Promise<ShellExit> | undefined;
  return {
    controller,
    commands,
    output: () => written,
    exit: () => ended ?? Promise.reject(new Error('none was started')),
    shells: {
      start: async (work) => {
        commands.push(work.command);
        const write = (chunk: Buffer): void => void (written += chunk.toString('utf8'));
        ({ ended } = await work.begin(write, controller.signal));
        return { id: 'shell0000001', output: '/out/put' };
      },
    },
  };
}

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 20) {
    if (holds()) return;
    await sleep(20);
  }
  throw new Error('it has not come true within a minute');
}

function left({ taskId }: Pick<ToolContext, 'taskId'>): readonly number[] {
  return findProcesses({ marks: new Set([`MUSTER_TASK=${taskId}`]) }) ?? [];
}

test.runIf(process.platform === 'linux')('the output can be opened by name', async () => {
  const at = makeWorkspace();
  const shell = testShell();
  const command = 'echo a > /dev/stderr; echo b | tee /dev/stdout > /dev/null; echo c > /dev/fd/1';
  await at.call('Bash', { command, run_in_background: true }, { shells: shell.shells });
  expect(await shell.exit()).toEqual({ how: 'exited', exitCode: 0 });
  expect(shell.output()).toBe('a\nc\n');
});

test('the call returns at once and says how to read the output, wait and stop', async () => {
  const at = makeWorkspace();
  const shell = testShell();
  const command = 'echo out; echo err >&2; pwd; exit 3';
  const input = { command, run_in_background: true };
  expect(await at.call('Bash', input, { shells: shell.shells })).toEqual({
    text: [
      'Shell shell0000001 runs in the background. Its output grows in /out/put',
      'Look: TaskOutput(task_id: "shell0000001", block: false). Wait for its end: TaskOutput(task_id: "shell0000001"). Stop: TaskStop(task_id: "shell0000001").',
      'You are told when it ends. What still runs at your final answer is stopped.',
    ].join('\n'),
  });
  expect(await shell.exit()).toEqual({ how: 'exited', exitCode: 3 });
  expect(shell.output()).toBe(`out\nerr\n${at.root}\n`);
  expect(shell.commands).toEqual([command]);
});

test('a timeout does not end a background command', async () => {
  const at = makeWorkspace();
  const shell = testShell();
  const input = { command: 'sleep 0.3; echo done', run_in_background: true, timeout: 1 };
  const { text } = await at.call('Bash', input, { shells: shell.shells });
  expect(text).toMatch(/\n\[timeout: has no effect in the background\]$/);
  expect(await shell.exit()).toEqual({ how: 'exited', exitCode: 0 });
  expect(shell.output()).toBe('done\n');
});

const STOPS = [
  ['obeys', 'echo go; sleep 300', { how: 'stopped', exitCode: null }],
  [
    'ends in its own way',
    "trap 'exit 7' TERM; echo go; sleep 300 & wait",
    { how: 'stopped', exitCode: 7 },
  ],
  ['has left its group', 'setsid sleep 300 & echo go; wait', { how: 'stopped', exitCode: null }],
  [
    'does not obey',
    "trap '' TERM; echo go; sleep 300; sleep 300",
    { how: 'killed', exitCode: null },
  ],
] as const;

test.each(STOPS.filter(([, command]) => HAS_SETSID || !command.includes('setsid')))(
  'one that %s when stopped leaves nothing',
  async (_, command, exit) => {
    const at = makeWorkspace();
    const shell = testShell();
    const taskId = `stop${String(process.pid).padStart(8, '0')}`;
    await at.call('Bash', { command, run_in_background: true }, { taskId, shells: shell.shells });
    await until(() => shell.output() === 'go\n');
    shell.controller.abort();
    expect(await shell.exit()).toEqual(exit);
    expect(left({ taskId })).toEqual([]);
  },
);

test.runIf(HAS_SETSID)(
  'processes that a command leaves running are stopped with it, and its output says so',
  async () => {
    const at = makeWorkspace();
    const shell = testShell();
    const taskId = `left${String(process.pid).padStart(8, '0')}`;
    const command = 'sleep 300 & setsid sleep 301 > /dev/null 2>&1 & echo gone';
    await at.call('Bash', { command, run_in_background: true }, { taskId, shells: shell.shells });
    const processes = { count: 2, commands: ['sleep 300', 'sleep 301'] };
    expect(await shell.exit()).toEqual({ how: 'exited', exitCode: 0, left: processes });
    expect(shell.output()).toBe(
      'gone\n[2 processes were still running in the background and stopped with the command: "sleep 300", "sleep 301"]\n',
    );
    expect(left({ taskId })).toEqual([]);
  },
);

test.runIf(HAS_SETSID)(
  'a shell that ends by itself stays ended, even when it is stopped at the same time',
  async () => {
    const at = makeWorkspace();
    const shell = testShell();
    // The pipe stays open after the shell has ended; then the note is written.
    const command = 'setsid sleep 300 & echo gone; exit 4';
    await at.call('Bash', { command, run_in_background: true }, { shells: shell.shells });
    await until(() => shell.output() === 'gone\n');
    const group = shell.exit();
    await until(() => left(at.context).length === 1);
    shell.controller.abort();
    expect(await group).toMatchObject({ exitCode: 4 });
  },
);

test.each([
  ['a file for a directory', 'a.txt', /a\.txt is a file, not a directory/],
  ['no directory', 'gone', /does not exist|not there|no such/i],
])('%s: the call fails and names no shell', async (_, cwd, message) => {
  const at = makeWorkspace();
  at.write('a.txt', '');
  const shell = testShell();
  const overrides = { cwd: at.path(cwd), shells: shell.shells };
  const result = await at.call('Bash', { command: 'true', run_in_background: true }, overrides);
  expect(result).toEqual({ text: expect.stringMatching(message), error: expect.any(String) });
});

test('a command that was stopped before its start does not start', async () => {
  const at = makeWorkspace();
  const shell = testShell();
  shell.controller.abort(new MusterError('CANCELLED', 'stopped before it began'));
  const result = await at.call(
    'Bash',
    { command: 'touch there', run_in_background: true },
    { shells: shell.shells },
  );
  expect(result).toEqual({ text: 'stopped before it began', error: 'CANCELLED' });
});

test('an error of the port becomes the result of the call', async () => {
  const at = makeWorkspace();
  const shells: ShellPort = {
    start: () => Promise.reject(new MusterError('LIMIT_EXCEEDED', 'too many')),
  };
  const input = { command: 'true', run_in_background: true };
  expect(await at.call('Bash', input, { shells })).toEqual({
    text: 'too many',
    error: 'LIMIT_EXCEEDED',
  });
});

test.each([
  [{ command: 'a', is_background: true }],
  [{ command: 'a', background: 'true' }],
  [{ command: 'a', run_in_background: 'true' }],
])('%j is read as run_in_background', (input) => {
  expect(tool('Bash').parse(input)).toEqual({
    ok: true,
    input: { command: 'a', run_in_background: true },
  });
});

test('policy gets the same command, and the information that it runs in the background', () => {
  const describe = (input: object) => tool('Bash').describe?.(input, { cwd: '/w' });
  expect(describe({ command: 'rm x', run_in_background: true })).toEqual({
    ...describe({ command: 'rm x' }),
    background: true,
  });
});
