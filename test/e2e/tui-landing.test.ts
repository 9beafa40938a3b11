import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isId } from '../../src/base/ids.ts';
import { toolResultRounds } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { TmuxTerminal } from './tmux.ts';
import { bash, openWorld, type World } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));
const MODE = ['--permission-mode', 'acceptEdits', '--allow', 'Bash'];

function git(directory: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  return execFileSync('git', [...identity, ...args], { cwd: directory, encoding: 'utf8' });
}

/** Opens a world in which a child changes `a.txt` in its own worktree. */
async function openRepository(): Promise<World> {
  const world = await openWorld({
    files: { 'a.txt': 'one\ntwo\nthree\n' },
    script: (request) => {
      const isMain = request.systemParts.join('\n').includes("in the user's terminal");
      if (toolResultRounds(request) > 0) return { text: isMain ? 'all done' : 'changed' };
      const input = { prompt: 'change', description: 'change a', isolation: 'worktree' };
      return { toolCalls: [isMain ? { name: 'Task', input } : bash("sed -i 's/two/TWO/' a.txt")] };
    },
  });
  const { workspace: cwd } = world.sandbox;
  git(cwd, 'init', '-q', '-b', 'main');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '-m', 'first');
  return world;
}

/** Runs the task, and returns the beginning of its id. */
async function runTask(terminal: TmuxTerminal, { sandbox }: World): Promise<string> {
  await terminal.sees('/help');
  terminal.type('go');
  terminal.press('Enter');
  await terminal.sees('all done');
  const id = readdirSync(join(sandbox.data, 'workspaces')).find(isId) ?? '';
  await type(terminal, `/task-status ${id.slice(0, 8)}`);
  await terminal.sees(/works in its own worktree, branch muster\/\w+\/change-a: 1 file changed/);
  return id.slice(0, 8);
}

async function type(terminal: TmuxTerminal, text: string): Promise<void> {
  terminal.type(text);
  await terminal.sees(text);
  terminal.press('Enter');
}

inTerminal(
  'the changes of a task are shown, merged after a question, and undone outside',
  async () => {
    await using world = await openRepository();
    const { sandbox, model } = world;
    const { workspace: cwd } = sandbox;
    using terminal = new TmuxTerminal(sandbox, MODE, {
      env: model.env('anthropic'),
      size: [110, 34],
    });
    const id = await runTask(terminal, world);
    await type(terminal, `/task-diff ${id}`);
    await terminal.sees(/-two[^]*\+TWO/);
    terminal.press('Escape');
    await type(terminal, `/task-apply ${id} no-commit`);
    await terminal.sees('merge these changes into your files?');
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    terminal.press('y');
    await terminal.sees('merged 1 file of task');
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\nTWO\nthree\n');
    expect(git(cwd, 'branch', '--list').trim()).toBe('* main');
  },
);

inTerminal('conflicts are named and nothing is changed; discarding asks first', async () => {
  await using world = await openRepository();
  const { sandbox, model } = world;
  const { workspace: cwd, data } = sandbox;
  using terminal = new TmuxTerminal(sandbox, MODE, {
    env: model.env('anthropic'),
    size: [110, 34],
  });
  const id = await runTask(terminal, world);
  const mine = 'one\nzwei\nthree\n';
  writeFileSync(join(cwd, 'a.txt'), mine);
  await type(terminal, `/task-apply ${id}`);
  await terminal.sees(/<<<<<<< your file, line 2[^]*zwei[^]*TWO/);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe(mine);
  terminal.press('Escape');
  await type(terminal, `/task-discard ${id}`);
  await terminal.sees('delete these changes for good?');
  const workspaces = join(data, 'workspaces');
  const tree = git(cwd, 'worktree', 'list').trim().split('\n')[1]?.split(' ')[0] ?? '';
  expect([tree.startsWith(workspaces), existsSync(tree)]).toEqual([true, true]);
  terminal.press('y');
  await terminal.sees('the changes of 1 file of task');
  await waitUntilPasses(() => expect(existsSync(tree)).toBe(false));
  expect(git(cwd, 'branch', '--list').trim()).toBe('* main');
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe(mine);
});
