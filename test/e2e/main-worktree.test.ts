import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSession } from '../../src/api/open-session.ts';
import { openTasks } from '../../src/api/stored-tasks.ts';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { lastUserText } from '../../src/testing/index.ts';
import { envelopeOf } from './muster.ts';
import { bash, lastResults, openWorld, type World } from './world.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Me',
  GIT_AUTHOR_EMAIL: 'me@localhost',
  GIT_COMMITTER_NAME: 'Me',
  GIT_COMMITTER_EMAIL: 'me@localhost',
};
const RIGHTS = ['--permission-mode', 'acceptEdits', '--allow', 'Bash'];

function git(directory: string, ...args: readonly string[]): string {
  const env = { ...process.env, ...IDENTITY };
  return execFileSync('git', args, { cwd: directory, encoding: 'utf8', env });
}

/** Opens a repository in which each message of the user is a command that the main agent runs. */
async function openRepository(
  script: (request: RecordedRequest) => Answer = runMessage,
): Promise<World> {
  const world = await openWorld({ files: { 'src/a.txt': 'one\n' }, script });
  const { workspace: cwd } = world.sandbox;
  git(cwd, 'init', '-q', '-b', 'main');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '-m', 'first');
  return world;
}

function runMessage(request: RecordedRequest): Answer {
  const [last] = request.messages.slice(-1);
  return last?.toolResults.length === 0
    ? { toolCalls: [bash(lastUserText(request).trim().split('<notice>')[0] ?? '')] }
    : { text: 'done' };
}

function read(world: World): string {
  return readFileSync(join(world.sandbox.workspace, 'src/a.txt'), 'utf8');
}

function branches(world: World): string {
  return git(world.sandbox.workspace, 'branch', '--format=%(refname:short)').trim();
}

describe.concurrent('muster -p --worktree', () => {
  it('works in a worktree, where the conversation continues, until its changes land', async () => {
    await using world = await openRepository();
    const { workspace: cwd, data } = world.sandbox;
    const args = ['-p', 'echo two >> src/a.txt', '--worktree', 'add-two', ...RIGHTS];
    const first = await world.run(args, { env: IDENTITY });
    expect(first).toMatchObject({ code: 0 });
    const id = /muster tasks apply (\w{12}) merges/.exec(first.stderr)?.[1] ?? '';
    expect(first.stderr).toContain(
      `1 changed file (+1 −0) in ${join(data, 'workspaces', id, 'tree')}, branch muster/${id}/add-two;`,
    );
    expect([read(world), branches(world)]).toEqual(['one\n', `main\nmuster/${id}/add-two`]);
    expect(world.model.requests[0]?.systemParts.at(-1)).toContain('This is your own git worktree');
    // The next message comes from the main checkout.
    const second = await world.run(['--continue', '-p', 'pwd; cat src/a.txt', ...RIGHTS]);
    expect(second).toMatchObject({ code: 0 });
    const [result] = lastResults(world.model);
    expect(result?.text).toContain(`${join(data, 'workspaces', id, 'tree')}\none\ntwo\n`);
    const applied = await world.run(['tasks', 'apply', id, '--data-dir', data], { env: IDENTITY });
    expect(applied.stdout).toMatch(/^task \w+: applied in 1 file as commit/);
    expect([read(world), branches(world)]).toEqual(['one\ntwo\n', 'main']);
    // Without its worktree, the conversation gets a new one of the present state.
    const third = await world.run(['--continue', '-p', 'echo three >> src/a.txt', ...RIGHTS]);
    expect(third.stderr).toContain(`branch muster/${id}/add-two;`);
    expect(git(cwd, 'show', `muster/${id}/add-two:src/a.txt`)).toBe('one\ntwo\nthree\n');
    expect(read(world)).toBe('one\ntwo\n');
  });

  it('keeps what a killed run has left, and continues with it', async () => {
    let hangs = true;
    await using world = await openRepository((request) =>
      hangs && toolResultRounds(request) > 0 ? { fault: { kind: 'hang' } } : runMessage(request),
    );
    const first = world.start(['-p', 'echo two >> src/a.txt', '--worktree', 'kept', ...RIGHTS]);
    await world.model.received(2);
    first.process.kill('SIGKILL');
    await first.finished;
    const [, branch = ''] = branches(world).split('\n');
    const id = branch.split('/')[1] ?? '';
    expect(branch).toBe(`muster/${id}/kept`);
    const doctor = await world.run(['doctor']);
    expect(doctor.stdout).toContain(`the process of task ${id} died, and its changes are in`);
    hangs = false;
    const second = await world.run(['--continue', '-p', 'cat src/a.txt', ...RIGHTS]);
    expect(second.stderr).toContain(`1 changed file (+1 −0) in`);
    expect(read(world)).toBe('one\n');
    const data = ['--data-dir', world.sandbox.data];
    expect(await world.run(['tasks', 'discard', id, ...data])).toMatchObject({ code: 0 });
    expect(branches(world)).toBe('main');
  });

  it('removes a worktree in which nothing was changed, and says nothing', async () => {
    await using world = await openRepository();
    const run = await world.run([
      '-p',
      'cat src/a.txt',
      '--worktree',
      ...RIGHTS,
      '--output-format',
      'json',
    ]);
    const { workspace, task_id: id } = envelopeOf(run).data;
    expect(workspace).toMatchObject({
      branch: `muster/${id}/cat-src-a-txt`,
      left: { isChanged: false },
    });
    expect([run.stderr, branches(world)]).toEqual(['', 'main']);
    expect(existsSync(join(world.sandbox.data, 'workspaces', String(id)))).toBe(false);
  });

  it('is what the definition of the main agent may ask for', async () => {
    await using world = await openRepository();
    const definition = { description: 'works alone', prompt: 'Work.', isolation: 'worktree' };
    const agent = [
      '--agents',
      JSON.stringify({ loner: definition }),
      '--agent',
      'loner',
      ...RIGHTS,
    ];
    const run = await world.run(['-p', 'echo two >> src/a.txt', ...agent]);
    const id = /muster tasks apply (\w{12}) merges/.exec(run.stderr)?.[1] ?? '';
    expect(run.stderr).toContain(`branch muster/${id}/echo-two-src-a-txt;`);
    expect([read(world), branches(world)]).toEqual([
      'one\n',
      `main\nmuster/${id}/echo-two-src-a-txt`,
    ]);
    // Without a place for it, the agent works in the directory, and says so.
    const unlogged = await world.run(['-p', 'echo two >> src/a.txt', '--no-log', ...agent]);
    expect([unlogged.code, read(world)]).toEqual([0, 'one\ntwo\n']);
    expect(unlogged.stderr).toContain('this run keeps no log');
    const [request] = world.model.requests.slice(-2);
    expect(request?.systemParts.join('\n')).toContain('this run keeps no log');
  });

  it('is refused without a log, and with a conversation that exists', async () => {
    await using world = await openRepository();
    const unlogged = await world.run(['-p', 'pwd', '--worktree', '--no-log']);
    expect([unlogged.code, unlogged.stderr]).toEqual([
      2,
      expect.stringContaining('--worktree: this run keeps no log'),
    ]);
    const resumed = await world.run(['--continue', '-p', 'pwd', '--worktree']);
    expect([resumed.code, resumed.stderr]).toEqual([
      2,
      expect.stringContaining('--worktree does not go with a conversation'),
    ]);
    expect(world.model.requests).toEqual([]);
  });

  it('lets children work in the same worktree, and isolated ones begin from it', async () => {
    const isMain = ({ systemParts }: RecordedRequest): boolean =>
      systemParts.join('\n').includes("in the user's terminal");
    const task = (prompt: string, isolation?: string) => ({
      name: 'Task',
      input: { prompt, ...(isolation === undefined ? {} : { isolation }) },
    });
    await using world = await openRepository((request) => {
      if (!isMain(request)) return runMessage(request);
      const results = request.messages.flatMap(({ toolResults }) => toolResults);
      const child = /task_id: "([a-z0-9]{12})"/.exec(results[1]?.text ?? '')?.[1];
      const calls = [
        task('echo same >> src/a.txt'),
        task('cat src/a.txt; echo own >> src/a.txt', 'worktree'),
        { name: 'TaskLand', input: { task_id: child ?? '', action: 'apply' } },
        bash('cat src/a.txt'),
      ];
      const next = calls[toolResultRounds(request)];
      return next === undefined ? { text: 'done' } : { toolCalls: [next] };
    });
    const run = await world.run(['-p', 'go', '--worktree', ...RIGHTS]);
    expect(run).toMatchObject({ code: 0 });
    const seen = world.model.requests
      .filter((request) => !isMain(request))
      .flatMap(({ messages }) => messages.flatMap(({ toolResults }) => toolResults))
      .map(({ text }) => text);
    expect(seen.join('\n')).toContain('one\nsame\n');
    expect(lastResults(world.model)[0]?.text).toContain('one\nsame\nown\n');
    expect(read(world)).toBe('one\n');
    expect(run.stderr).toContain('1 changed file (+2 −0)');
  });
});

describe('a conversation in a worktree with a person', () => {
  it('keeps it open between messages, and ends it with the session', async () => {
    await using world = await openRepository();
    const { workspace: cwd, data, home } = world.sandbox;
    const environment = {
      HOME: home,
      PATH: process.env['PATH'] ?? '',
      ...IDENTITY,
      ...world.model.env('anthropic'),
      MUSTER_PERMISSIONS_MODE: 'acceptEdits',
      MUSTER_PERMISSIONS_ALLOW: 'Bash',
    };
    const common = { cwd, dataDir: data, environment, attended: true } as const;
    const muster = await openSession({ ...common, worktree: { name: 'open' } });
    const tasks = openTasks({ dataDir: data, environment });
    const workspaces = await tasks.workspaces(new AbortController().signal);
    try {
      const run = muster.start({ prompt: 'echo two >> src/a.txt' });
      await run.result;
      const tree = join(data, 'workspaces', run.id, 'tree');
      expect(git(tree, 'status', '--short')).toBe(' M src/a.txt\n');
      const held = `uses the workspace of task ${run.id}`;
      await expect(workspaces.apply(run.id, 'commits')).rejects.toThrow(held);
      await expect(workspaces.discard(run.id)).rejects.toThrow(held);
      expect(await workspaces.diff(run.id)).toContain('+two');
      const doctor = await world.run(['doctor']);
      expect(doctor.stdout).not.toContain(run.id);
      writeFileSync(join(cwd, 'src/a.txt'), 'zero\none\n');
      await (
        await muster.resume({ id: run.id, prompt: 'echo three >> src/a.txt' })
      ).result;
      expect(git(tree, 'log', '--format=%s').trim()).toBe('first');
      expect(await muster.closeWorkspaces()).toEqual([
        expect.stringMatching(
          new RegExp(
            `^1 changed file \\(\\+2 −0\\) in .*, branch muster/${run.id}/open; muster tasks`,
          ),
        ),
      ]);
      expect(await workspaces.apply(run.id, 'files')).toMatchObject({ kind: 'landed' });
      expect(read(world)).toBe('zero\none\ntwo\nthree\n');
    } finally {
      await muster.close();
      await tasks.close();
    }
    const again = await openSession(common);
    try {
      expect(again.newestConversation()).not.toBeNull();
    } finally {
      await again.close();
    }
  });
});
