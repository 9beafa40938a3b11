import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { NO_HOME } from '../../src/sys/env.ts';
import { needs } from '../needs.ts';
import { BIN, type Sandbox } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const NOT_KEPT =
  /^muster: this run keeps no log, so it cannot be continued, and its prompts and approvals are not remembered: (.+)\n/;
const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');

/** A home directory in which nobody can create anything, not even the super-user. */
function unwritableHome(sandbox: Sandbox): string {
  const path = join(sandbox.root, 'a file');
  writeFileSync(path, '');
  return path;
}

/** The variables of a user who has not chosen a data directory. */
const withHome = (home: string) => ({ HOME: home, MUSTER_DATA_DIR: '' });

describe.concurrent('in a home directory that cannot be written', () => {
  it('a run answers and says what it does not keep', async () => {
    await using world = await openWorld();
    const home = unwritableHome(world.sandbox);
    const run = await world.run(['-p', 'go'], { env: withHome(home) });
    expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
    const [notice, reason] = NOT_KEPT.exec(run.stderr) ?? [];
    expect(run.stderr).toBe(notice);
    expect(reason).toMatch(`cannot create directory ${home}/.local/share/muster: ENOTDIR`);
  });

  it('a run keeps its log in a directory of XDG_DATA_HOME that can be written', async () => {
    await using world = await openWorld();
    const data = join(world.sandbox.root, 'xdg');
    const env = { ...withHome(unwritableHome(world.sandbox)), XDG_DATA_HOME: data };
    const run = await world.run(['-p', 'go'], { env });
    expect([run.code, run.stdout, run.stderr]).toEqual([0, 'ok\n', '']);
    expect(readdirSync(join(data, 'muster/tasks')).length).toBeGreaterThan(0);
  });

  it.each([['--continue'], ['--resume', 'abc']])('%s is an error', async (...flags) => {
    await using world = await openWorld();
    const env = withHome(unwritableHome(world.sandbox));
    const run = await world.run(['-p', 'go', ...flags], { env });
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toMatch(/^muster: cannot create directory [^\n]+\n$/);
    expect(world.model.requests).toEqual([]);
  });

  it('a question is refused and not parked', async () => {
    const ask = { toolCalls: [{ name: 'Bash', input: { command: 'touch made' } }] };
    await using world = await openWorld({
      script: [{ when: { toolResults: 0 }, answer: ask }, { answer: { text: 'refused' } }],
    });
    const env = withHome(unwritableHome(world.sandbox));
    const run = await world.run(['-p', 'go', '--on-ask', 'park'], { env });
    expect([run.code, run.stdout]).toEqual([0, 'refused\n']);
    expect(run.stderr).toContain(
      'muster: questions are refused and not parked, because nothing is kept\n',
    );
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
  });

  it.runIf(needs('tmux', 'tmux'))('the terminal UI answers, and offers no way back', async () => {
    await using world = await openWorld();
    const env = { ...world.model.env('anthropic'), ...withHome(unwritableHome(world.sandbox)) };
    using terminal = new TmuxTerminal(world.sandbox, [], { env });
    await terminal.sees('keeps no log');
    terminal.type('go');
    terminal.press('Enter');
    await terminal.sees(/^ *ok\b/m);
    terminal.press('C-d', 'C-d');
    expect(await terminal.sees('exit 0')).not.toContain('--resume');
  });
});

it.runIf(process.getuid?.() !== undefined)(
  'an empty HOME is the home directory of the user database, not the working directory',
  async () => {
    await using world = await openWorld();
    const shown = await world.run(['doctor', '--json'], { env: withHome('') });
    expect(shown.stdout).toContain(`${userInfo().homedir}/.local/share/muster`);
    const relative = { XDG_CACHE_HOME: 'relative' };
    expect((await world.run(['--version'], { env: relative })).code).toBe(0);
    expect(readdirSync(world.sandbox.workspace)).toEqual([]);
  },
);

/** Runs the program without HOME, as a user who has no entry in the user database. */
async function runWithoutUser(sandbox: Sandbox, args: readonly string[], env: NodeJS.ProcessEnv) {
  const user = ['--unshare-user', '--uid', '54321', '--gid', '54321'];
  const program = [process.execPath, BIN, ...args];
  const { HOME: _, ...others } = sandbox.environment();
  const child = spawn('bwrap', ['--dev-bind', '/', '/', ...user, '--', ...program], {
    cwd: sandbox.workspace,
    env: { ...others, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  return { code: child.exitCode, stdout, stderr };
}

describe.runIf(HAS_BUBBLEWRAP)('a user without a home directory', () => {
  it('gets the version, an answer and a check', async () => {
    const read = { toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
    await using world = await openWorld({
      files: { 'a.txt': 'a' },
      script: [{ when: { toolResults: 0 }, answer: read }, { answer: { text: 'ok' } }],
    });
    const { sandbox, model } = world;
    const env = { ...model.env('anthropic'), MUSTER_DATA_DIR: '' };
    expect((await runWithoutUser(sandbox, ['--version'], env)).stderr).toBe('');
    const run = await runWithoutUser(sandbox, ['-p', 'go'], env);
    expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
    expect(NOT_KEPT.exec(run.stderr)?.[1]).toMatch(/there is no home directory; set HOME/);
    const doctor = await runWithoutUser(sandbox, ['doctor'], env);
    expect(doctor.stdout).toMatch(/^warn +data directory +there is no home directory/m);
    expect(existsSync(NO_HOME)).toBe(false);
  });

  it('keeps the logs in a directory that was chosen', async () => {
    await using world = await openWorld();
    mkdirSync(world.sandbox.data, { mode: 0o700 });
    const env = world.model.env('anthropic');
    const run = await runWithoutUser(world.sandbox, ['-p', 'go'], env);
    expect([run.code, run.stdout, run.stderr]).toEqual([0, 'ok\n', '']);
    expect(readdirSync(join(world.sandbox.data, 'tasks')).length).toBeGreaterThan(0);
    expect(existsSync(NO_HOME)).toBe(false);
  });
});
