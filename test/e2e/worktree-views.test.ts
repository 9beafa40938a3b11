import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { eventsOf } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';

const FLAGS = ['--permission-mode', 'acceptEdits', '--allow', 'Bash', '--verbose'];

function git(directory: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  return execFileSync('git', [...identity, ...args], { cwd: directory, encoding: 'utf8' });
}

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

/** Opens a world in which two siblings change the same file, each in its own worktree, and the parent lists its tasks. */
async function openSiblings(): Promise<World> {
  const task = (prompt: string, description: string) => ({
    name: 'Task',
    input: { prompt, description, isolation: 'worktree' },
  });
  const world = await openWorld({
    files: { 'src/a.txt': 'one\ntwo\nthree\n', 'src/b.txt': 'alpha\n' },
    script: (request) => {
      const round = toolResultRounds(request);
      if (isMain(request)) {
        const calls = [
          [task('first', 'change one'), task('second', 'change three')],
          [{ name: 'TaskList', input: {} }],
        ][round];
        return calls === undefined ? { text: 'done' } : { toolCalls: calls };
      }
      const isFirst = request.messages.some(({ text }) => text.includes('first'));
      const edit = isFirst
        ? "sed -i 's/one/ONE/' src/a.txt; echo x > src/only.txt"
        : "sed -i 's/three/THREE/' src/a.txt";
      return round === 0 ? { toolCalls: [bash(edit)] } : { text: 'done' };
    },
  });
  const { workspace: cwd } = world.sandbox;
  git(cwd, 'init', '-q', '-b', 'main');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '-m', 'first');
  return world;
}

async function runSiblings(world: World) {
  const run = await world.run(['-p', 'go', ...FLAGS, '--output-format', 'stream-json']);
  expect(run).toMatchObject({ code: 0 });
  const opened = eventsOf(run).flatMap(({ type, task }) =>
    type === 'workspace.opened' ? task : [],
  );
  const root = eventsOf(run)[0]?.task ?? '';
  const [first = '', second = ''] = opened;
  for (const id of [first, second]) {
    const name = `general-purpose ${id.slice(0, 6)}`;
    expect(run.stderr).toMatch(
      new RegExp(`▸ ${name}: change \\w+ \\[worktree muster/${id}/change-\\w+\\]`),
    );
    expect(run.stderr).toMatch(new RegExp(`✓ ${name}: .*, worktree: [12] files? changed\n`));
  }
  return { root, first, second };
}

describe('the views of tasks in worktrees', () => {
  it('show where each works, which files siblings have both changed, and what became of the changes', async () => {
    await using world = await openSiblings();
    const { root, first, second } = await runSiblings(world);
    const data = ['--data-dir', world.sandbox.data];
    const results = world.model.requests
      .findLast(isMain)
      ?.messages.flatMap((each) => each.toolResults.map(({ text }) => text));
    const listed = results?.at(-1) ?? '';
    expect(listed).toMatch(
      /completed · general-purpose · 2 turns · worktree: 2 files changed · change one/,
    );
    expect(listed).toMatch(
      /\nChanged by several tasks, each in its own worktree:\n {2}src\/a\.txt: \w{12}, \w{12}$/,
    );
    const list = await world.run(['tasks', 'list', ...data]);
    expect(list.stdout).toContain(`[worktree muster/${first}/`);
    expect(list.stdout).toMatch(/: changed\]\n/);
    expect(list.stdout).toMatch(
      /\nChanged by several tasks[^\n]*\n {2}src\/a\.txt: \w{12}, \w{12}\n$/,
    );
    const show = await world.run(['tasks', 'show', root, ...data]);
    expect(show.stdout).toMatch(
      new RegExp(`\\n {14}\\[worktree muster/${first}/[a-z-]+: [12] files? changed\\]\\n`),
    );
    expect(show.stdout).toMatch(/\nChanged by several tasks[^\n]*\n {2}src\/a\.txt: /);
    const page = await world.run(['tasks', 'show', root, '--html', '-', ...data]);
    expect(page.stdout).toMatch(
      new RegExp(`<summary>What it changed \\[worktree muster/${first}/[^<]*</summary>[^]*\\+ONE`),
    );
    const applied = await world.run(['tasks', 'apply', first, '--no-commit', ...data]);
    expect(applied).toMatchObject({ code: 0 });
    const discarded = await world.run(['tasks', 'discard', second, ...data]);
    expect(discarded).toMatchObject({ code: 0 });
    const after = await world.run(['tasks', 'show', root, ...data]);
    expect(after.stdout).toMatch(new RegExp(`muster/${first}/[a-z-]+: landed\\]\\n`));
    expect(after.stdout).toMatch(new RegExp(`muster/${second}/[a-z-]+: discarded\\]\\n`));
    expect(after.stdout).not.toContain('Changed by several tasks');
    const later = await world.run(['tasks', 'show', root, '--html', '-', ...data]);
    expect(later.stdout).toMatch(/<summary>What has landed [^<]*<\/summary>[^]*\+ONE/);
    expect(later.stdout).not.toContain('+THREE');
    const json: unknown = JSON.parse(
      (await world.run(['tasks', 'list', '--json', ...data])).stdout,
    );
    expect(json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id: second,
          workspace: expect.objectContaining({ kind: 'worktree', landing: 'discarded' }),
        }),
      ]),
    );
  });

  it('name a landing that is not finished, with the commands that end it, and no second one begins', async () => {
    await using world = await openSiblings();
    const { first, second } = await runSiblings(world);
    const data = ['--data-dir', world.sandbox.data];
    const { workspace: cwd } = world.sandbox;
    const journal = {
      version: 1,
      id: 'j',
      kind: 'apply',
      undoes: null,
      source: cwd,
      startedAt: new Date().toISOString(),
      writes: [],
      createdDirectories: [],
      removableDirectories: null,
      directoryModes: [],
      git: null,
    };
    const landing = join(world.sandbox.data, 'workspaces', first, 'landing');
    mkdirSync(landing);
    writeFileSync(join(landing, 'journal.json'), JSON.stringify(journal));
    writeFileSync(join(landing, 'contents'), '');
    const ends = `muster tasks apply ${first} --continue, or --abort`;
    const list = await world.run(['tasks', 'list', ...data]);
    expect(list.stdout).toContain(`landing not finished: ${ends}]`);
    const doctor = await world.run(['doctor', ...data]);
    expect(doctor.stdout).toContain(ends);
    const refused = await world.run(['tasks', 'apply', second, ...data]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`the landing of task ${first} in ${cwd} is not finished`);
    const discarded = await world.run(['tasks', 'discard', first, ...data]);
    expect(discarded.code).toBe(1);
    expect(discarded.stderr).toContain(`muster tasks apply ${first} --continue`);
    const pruned = await world.run(['tasks', 'prune', '--days', '0', ...data]);
    expect(pruned.stderr).toContain(first);
    expect(readFileSync(join(landing, 'journal.json'), 'utf8')).toBe(JSON.stringify(journal));
    const aborted = await world.run(['tasks', 'apply', first, '--abort', ...data]);
    expect(aborted).toMatchObject({ code: 0 });
    expect(await world.run(['tasks', 'apply', second, ...data])).toMatchObject({ code: 0 });
  });
});
