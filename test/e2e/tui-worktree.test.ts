import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { IN_TURN, openScene, RIGHTS } from './attempts.ts';
import { bash, openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

function git(directory: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  return execFileSync('git', [...identity, ...args], { cwd: directory, encoding: 'utf8' });
}

inTerminal('a conversation in a worktree says at its end how its changes land', async () => {
  await using world = await openWorld({
    files: { 'src/a.txt': 'one\n' },
    script: (request) => {
      const messages = request.messages.filter(
        ({ role, text }) => role === 'user' && text.trim() !== '',
      );
      return toolResultRounds(request) < messages.length
        ? { toolCalls: [bash(`echo line ${messages.length} >> src/a.txt`)] }
        : { text: `Change ${messages.length} is made.` };
    },
  });
  const { workspace: cwd, data } = world.sandbox;
  git(cwd, 'init', '-q', '-b', 'main');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '-m', 'first');
  const flags = ['--worktree', 'lines', '--permission-mode', 'acceptEdits', '--allow', 'Bash'];
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, flags, { env });
  await terminal.sees('/help');
  terminal.type('Add a line.');
  terminal.press('Enter');
  await terminal.sees('Change 1 is made.');
  terminal.type('Add another line.');
  terminal.press('Enter');
  await terminal.sees('Change 2 is made.');
  const branch = git(cwd, 'branch', '--format=%(refname:short)', '--list', 'muster/*').trim();
  const id = branch.split('/')[1] ?? '';
  expect(branch).toBe(`muster/${id}/lines`);
  const refused = await world.run(['tasks', 'apply', id, '--data-dir', data]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`uses the workspace of task ${id}`),
  ]);
  terminal.press('C-c');
  await terminal.sees('ctrl+c again leaves');
  terminal.press('C-c');
  await terminal.sees('exit 0');
  await terminal.sees('1 changed file (+2 −0) in');
  const applied = await world.run(['tasks', 'apply', id, '--no-commit', '--data-dir', data]);
  expect(applied).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, 'src/a.txt'), 'utf8')).toBe('one\nline 1\nline 2\n');
});

inTerminal('a run of several attempts asks whether the best one lands', async () => {
  await using world = await openScene({ attempts: ['true', 'echo 5 > src/value.txt'] });
  const args = ['run', 'best-of-n', 'Raise it.', '--attempts', '2', ...RIGHTS];
  const env = { ...world.model.env('anthropic'), ...IN_TURN };
  using terminal = new TmuxTerminal(world.sandbox, args, { env });
  await terminal.sees('Merge the changes of attempt 2 (task');
  terminal.type('y');
  terminal.press('Enter');
  await terminal.sees('applied in 1 file');
  await terminal.sees('exit 0');
  expect(readFileSync(join(world.sandbox.workspace, 'src/value.txt'), 'utf8')).toBe('5\n');
});
