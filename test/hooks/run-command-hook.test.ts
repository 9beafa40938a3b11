import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CommandAction } from '../../src/hooks/hook-definition.ts';
import {
  runCommandHook,
  type CommandHookRun,
  type CommandHookSettings,
  type ConfineHook,
} from '../../src/hooks/run-command-hook.ts';
import { killAllProcesses } from '../../src/sys/processes/process-group.ts';
import { openSandbox } from '../../src/sys/sandbox/open-sandbox.ts';
import { needs } from '../needs.ts';
import { tempDirectory } from '../sys/temp.ts';
import { makeTask, PROJECT, USER } from './samples.ts';

interface Options extends Partial<Omit<CommandHookRun, 'action' | 'task'>> {
  readonly cwd: string;
  readonly settings?: Partial<CommandHookSettings>;
  readonly args?: readonly string[];
}

/** Runs a command as a hook of the user. */
function run(command: string, { cwd, settings = {}, args, ...rest }: Options) {
  const action: CommandAction = {
    kind: 'command',
    command,
    ...(args === undefined ? {} : { args }),
  };
  return runCommandHook(
    {
      action,
      source: USER,
      task: makeTask({ id: 'task-1', cwd }),
      input: '{"a":1}\n',
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      ...rest,
    },
    {
      env: { PATH: process.env['PATH'] },
      projectDirectory: '/the project',
      confinement: async () => 'refused',
      confinesOwn: false,
      ...settings,
    },
  );
}

function exited(end: object) {
  return { kind: 'exited', code: 0, signal: null, stdout: '', stderr: '', ...end };
}

/** Returns the process ids that a hook has written to a file, of processes that still run. */
function listRunning(file: string): readonly number[] {
  const pids = readFileSync(file, 'utf8').trim().split(/\s+/).map(Number);
  return pids.filter((pid) => {
    try {
      process.kill(pid, 0);
      return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
    } catch {
      return false;
    }
  });
}

async function waitForFile(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(10);
}

describe('a command', () => {
  it('gets its input, its directory and its environment', async () => {
    const cwd = tempDirectory();
    const command =
      'cat; pwd; echo "$CLAUDE_PROJECT_DIR|$MUSTER_PROJECT_DIR|$MUSTER_TASK" >&2; exit 0';
    expect(await run(command, { cwd })).toEqual(
      exited({
        stdout: `{"a":1}\n${cwd}\n`,
        stderr: '/the project|/the project|task-1\n',
      }),
    );
  });

  it('with arguments runs without a shell', async () => {
    const args = ['%s|', '$HOME', 'a b', '${CLAUDE_PROJECT_DIR}/x'];
    expect(await run('printf', { cwd: tempDirectory(), args })).toEqual(
      exited({ stdout: '$HOME|a b|/the project/x|' }),
    );
  });

  it.each([0, 1, 2, 3, 4, 5, 126, 127, 130])('reports the exit code %i', async (code) => {
    expect(await run(`exit ${code}`, { cwd: tempDirectory() })).toEqual(exited({ code }));
  });

  it('reports its signal', async () => {
    const end = await run('kill -KILL $$', { cwd: tempDirectory() });
    expect(end).toEqual(exited({ code: null, signal: 'SIGKILL' }));
  });

  it.each([
    ['no newline', "printf 'abc'", 'abc'],
    ['NUL bytes', String.raw`printf 'a\0b'`, 'a\0b'],
    ['invalid UTF-8', String.raw`printf 'a\377b'`, 'a\ufffdb'],
  ])('may print %s', async (_, command, stdout) => {
    expect(await run(command, { cwd: tempDirectory() })).toEqual(exited({ stdout }));
  });

  it('may close its input, however large it is', async () => {
    const input = 'x'.repeat(4_000_000);
    const end = await run('exec 0<&-; echo done', { cwd: tempDirectory(), input });
    expect(end).toEqual(exited({ stdout: 'done\n' }));
  });

  it('that is not executable or missing is reported by the shell', async () => {
    const cwd = tempDirectory();
    writeFileSync(join(cwd, 'hook.sh'), '#!/bin/sh\n');
    expect(await run('./hook.sh', { cwd })).toMatchObject({ kind: 'exited', code: 126 });
    expect(await run('./none.sh', { cwd })).toMatchObject({ kind: 'exited', code: 127 });
    const failed = {
      kind: 'failed',
      reason: expect.stringMatching(/^it could not start: .*EACCES/),
    };
    expect(await run(join(cwd, 'hook.sh'), { cwd, args: [] })).toEqual(failed);
    chmodSync(join(cwd, 'hook.sh'), 0o755);
    expect(await run(join(cwd, 'hook.sh'), { cwd, args: [] })).toEqual(exited({}));
  });

  it('in a directory that does not exist cannot start', async () => {
    const cwd = join(tempDirectory(), 'gone');
    expect(await run('true', { cwd })).toEqual({
      kind: 'failed',
      reason: `it could not start: the directory ${cwd} of its task does not exist`,
    });
  });
});

describe('a command is ended with all its processes', () => {
  /** A command line that ignores TERM, starts a process that has left the group, and writes both ids to a file. */
  const stubborn = `trap '' TERM; setsid sleep 300 & echo $$ $! > pids.new; mv pids.new pids; `;

  it('after its time', async () => {
    const cwd = tempDirectory();
    const end = await run(`${stubborn} while :; do sleep 0.1; done`, { cwd, timeoutMs: 500 });
    expect(end).toEqual({ kind: 'timeout', limitMs: 500 });
    expect(listRunning(join(cwd, 'pids'))).toEqual([]);
  });

  it('when it prints 10 MB', async () => {
    const cwd = tempDirectory();
    const reason =
      'it printed more than 1048576 bytes and was ended (limit hook_output_bytes = 1048576)';
    const command = `${stubborn} head -c 10000000 /dev/zero; sleep 300`;
    expect(await run(command, { cwd })).toEqual({ kind: 'failed', reason });
    expect(await run(`(${command}) >&2`, { cwd })).toEqual({ kind: 'failed', reason });
    expect(listRunning(join(cwd, 'pids'))).toEqual([]);
  });

  it('when the signal aborts', async () => {
    const cwd = tempDirectory();
    const stop = new AbortController();
    const work = run(`${stubborn} sleep 300`, { cwd, signal: stop.signal });
    await waitForFile(join(cwd, 'pids'));
    stop.abort();
    expect(await work).toEqual({
      kind: 'failed',
      reason: 'it was ended, because its call or task was stopped',
    });
    expect(listRunning(join(cwd, 'pids'))).toEqual([]);
  });

  it('when it has ended and left processes behind that hold its output open', async () => {
    const cwd = tempDirectory();
    const end = await run(`${stubborn} echo done`, { cwd });
    const notice =
      '1 process was still running in the background and stopped with the command: "sleep 300"';
    expect(end).toEqual(exited({ stdout: 'done\n', notice }));
    expect(listRunning(join(cwd, 'pids'))).toEqual([]);
  });

  it('when the process ends', async () => {
    const cwd = tempDirectory();
    const work = run(`${stubborn} sleep 300`, { cwd });
    await waitForFile(join(cwd, 'pids'));
    await killAllProcesses({ graceMs: 0 });
    expect(await work).toMatchObject({ kind: 'exited', code: null });
    expect(listRunning(join(cwd, 'pids'))).toEqual([]);
  });
});

describe('the environment', () => {
  const env = {
    PATH: process.env['PATH'],
    DISPLAY: ':0',
    ANTHROPIC_API_KEY: 'sk-secret',
    PROXY: 'http://u:pw@proxy',
  };
  const command = 'echo "$DISPLAY|$ANTHROPIC_API_KEY|$PROXY"';

  it('of a hook of the user has no secrets', async () => {
    const end = await run(command, { cwd: tempDirectory(), settings: { env } });
    expect(end).toEqual(exited({ stdout: ':0||\n' }));
  });

  it('of any other hook has only what commands of a task have', async () => {
    const settings = { env, confinement: async () => 'unconfined' as const };
    const end = await run(command, { cwd: tempDirectory(), source: PROJECT, settings });
    expect(end).toEqual(exited({ stdout: '||\n' }));
  });
});

describe('the sandbox', () => {
  /** A sandbox that prints its name before it runs the command. */
  function namedSandbox() {
    const calls: string[] = [];
    const confine: ConfineHook = async ({ argv, env }, { id }) => {
      calls.push(`confine ${id}`);
      return {
        file: '/bin/sh',
        args: ['-c', 'echo confined; exec "$@"', 'sh', ...argv],
        env,
        monitored: false,
        startCheck: false,
        settle: async () => {
          calls.push('settle');
          return { removed: [{ path: '/p/.git/hooks/x', keptAt: '/q' }], fromCommits: [] };
        },
        release: () => void calls.push('release'),
        allows: () => true,
      };
    };
    return { confine, calls };
  }

  it('holds the hooks of a project, and is released after them', async () => {
    const { confine, calls } = namedSandbox();
    const options = {
      cwd: tempDirectory(),
      source: PROJECT,
      settings: { confinement: async () => confine },
    };
    expect(await run('cat', options)).toEqual(
      exited({
        stdout: 'confined\n{"a":1}\n',
        notice: 'it changed protected files, which was undone: /p/.git/hooks/x',
      }),
    );
    expect(calls).toEqual(['confine task-1', 'settle', 'release']);
  });

  it('does not hold hooks of the user', async () => {
    const { confine, calls } = namedSandbox();
    const end = await run('echo own', {
      cwd: tempDirectory(),
      settings: { confinement: async () => confine },
    });
    expect(end).toEqual(exited({ stdout: 'own\n' }));
    expect(calls).toEqual([]);
  });

  it('is released although the hook cannot start', async () => {
    const { confine, calls } = namedSandbox();
    const cwd = join(tempDirectory(), 'gone');
    const end = await run('true', {
      cwd,
      source: PROJECT,
      settings: { confinement: async () => confine },
    });
    expect(end).toMatchObject({ kind: 'failed' });
    expect(calls).toEqual(['confine task-1', 'release']);
  });

  it.each(['project', 'agent', 'skill'] as const)('is needed for a hook of a %s', async (kind) => {
    const cwd = tempDirectory();
    const source = { kind, where: 'x' };
    expect(await run('touch ran', { cwd, source })).toEqual({
      kind: 'failed',
      reason: `it was not run: there is no sandbox, and this hook of a ${kind} runs only in it`,
    });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
    await run('touch ran', { cwd, source, settings: { confinement: async () => 'unconfined' } });
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
  });
});

it.runIf(needs('bwrap', 'bubblewrap'))('the real sandbox holds a hook of a project', async () => {
  const home = tempDirectory();
  const cwd = tempDirectory();
  const hostPaths = { homes: [home], stateDirectories: [], runtimeDirectories: [], sockets: [] };
  const path = process.env['PATH'] ?? '';
  const roots = [cwd];
  const sandbox = openSandbox({
    kind: 'auto',
    platform: 'linux',
    path,
    roots,
    hostPaths,
    records: null,
  });
  expect(await sandbox.state()).toMatchObject({ on: true });
  const confine: ConfineHook = async (command) =>
    sandbox.confine({
      ...command,
      confinement: { access: 'workspace', roots, network: false },
      stderr: 'command',
    });
  const command = `cat; echo in > inside; echo out > ${home}/outside || exit 2`;
  const end = await run(command, {
    cwd,
    source: PROJECT,
    settings: { confinement: async () => confine },
  });
  expect(end).toEqual(
    exited({ code: 2, stdout: '{"a":1}\n', stderr: expect.stringContaining('outside') }),
  );
  expect([existsSync(join(cwd, 'inside')), existsSync(join(home, 'outside'))]).toEqual([
    true,
    false,
  ]);
});
