import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  lastUserText,
  toolResultRounds,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf, type Sandbox } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';

const FILES = {
  'src/a.txt': 'one\ntwo\nthree\nfour\nfive\n',
  'src/b.txt': 'alpha\n',
  '.gitignore': 'node_modules\n',
};
const FLAGS = ['--permission-mode', 'acceptEdits', '--allow', 'Bash'];

function git(directory: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  return execFileSync('git', [...identity, ...args], { cwd: directory, encoding: 'utf8' });
}

function makeRepository({ workspace: cwd }: Pick<Sandbox, 'workspace'>): void {
  git(cwd, 'init', '-q', '-b', 'main');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '-m', 'first');
}

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

/** The calls of the main agent and of its children, one message after another; then each answers `done`. */
interface Script {
  readonly main: readonly ((request: RecordedRequest) => readonly AnswerToolCall[])[];
  readonly child: readonly (readonly AnswerToolCall[])[];
}

async function openRepository({ main, child }: Script): Promise<World> {
  const world = await openWorld({
    files: FILES,
    script: (request) => {
      const round = toolResultRounds(request);
      const calls = isMain(request) ? main[round]?.(request) : child[round];
      return calls === undefined ? { text: 'done' } : { toolCalls: calls };
    },
  });
  makeRepository(world.sandbox);
  return world;
}

function task(prompt: string): AnswerToolCall {
  return { name: 'Task', input: { prompt, description: 'change a', isolation: 'worktree' } };
}

/** Returns the id of the first child that the results of a request mention. */
function findChild(request: RecordedRequest): string {
  const text = request.messages.flatMap(({ toolResults }) => toolResults.map((each) => each.text));
  return /task_id: "([a-z0-9]{8,32})"/.exec(text.join('\n'))?.[1] ?? '';
}

function land(request: RecordedRequest, action: string): readonly AnswerToolCall[] {
  return [{ name: 'TaskLand', input: { task_id: findChild(request), action } }];
}

function toolNames(request: RecordedRequest | undefined): readonly string[] {
  return request?.tools.map(({ name }) => name) ?? [];
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Me',
  GIT_AUTHOR_EMAIL: 'me@localhost',
  GIT_COMMITTER_NAME: 'Me',
  GIT_COMMITTER_EMAIL: 'me@localhost',
};
const EDIT = bash("sed -i 's/two/TWO/' src/a.txt");

describe('a task with a worktree', () => {
  it('changes only its worktree, whose changes the parent lands', async () => {
    await using world = await openRepository({
      main: [
        () => [task('Put two into capitals.')],
        (request) => land(request, 'diff'),
        (request) => land(request, 'apply'),
      ],
      child: [[EDIT]],
    });
    const { workspace: cwd } = world.sandbox;
    writeFileSync(join(cwd, 'src/b.txt'), 'alpha\nmine\n');
    const run = await world.run(['-p', 'go', ...FLAGS, '--output-format', 'stream-json']);
    expect(run).toMatchObject({ code: 0 });
    const mains = world.model.requests.filter(isMain);
    const results = mains.at(-1)?.messages.flatMap((each) => each.toolResults) ?? [];
    expect(results.map(({ text }) => text).join('\n---\n')).toMatch(
      /1 file, \+1 −1: src\/a\.txt[^]*---[^]*-two\n\+TWO[^]*---[^]*Merged the changes of task/,
    );
    expect(readFileSync(join(cwd, 'src/a.txt'), 'utf8')).toBe('one\nTWO\nthree\nfour\nfive\n');
    expect(readFileSync(join(cwd, 'src/b.txt'), 'utf8')).toBe('alpha\nmine\n');
    expect(toolNames(mains[0])).not.toContain('TaskLand');
    expect(toolNames(mains[1])).toContain('TaskLand');
    const types = eventsOf(run).map(({ type }) => type);
    expect(types).toContain('workspace.opened');
    expect(types).toContain('workspace.closed');
    expect(envelopeOf(run).data.files_modified).toEqual([join(cwd, 'src/a.txt')]);
  });

  it('names, when it has landed, the tests of the task that its check has used', async () => {
    const isolation = 'worktree';
    const input = { prompt: 'Check it.', isolation, accept: 'grep -q TWO src/a.txt' };
    await using world = await openRepository({
      main: [() => [{ name: 'Task', input }], (request) => land(request, 'apply')],
      child: [[EDIT, bash('mkdir test && echo 1 > test/a.test.js')]],
    });
    await world.run(['-p', 'go', ...FLAGS]);
    const last = world.model.requests.findLast(isMain)?.messages.at(-1);
    const [result] = last?.toolResults ?? [];
    expect(result?.text).toMatch(
      /^Merged the changes of task \w+ into 2 files: src\/a\.txt, test\/a\.test\.js\. The check of the merged files used these as the task left them: test\/a\.test\.js\.$/,
    );
  });

  it('keeps its changes from a parent in plan mode, which may look at them', async () => {
    let action = 'discard';
    await using world = await openWorld({
      files: FILES,
      script: (request) => {
        const isAsked = lastUserText(request).includes('Land it.');
        if (!isMain(request))
          return toolResultRounds(request) > 0 ? { text: 'done' } : { toolCalls: [EDIT] };
        if (request.messages.at(-1)?.toolResults.length !== 0) return { text: 'done' };
        return { toolCalls: isAsked ? land(request, action) : [task('Change it.')] };
      },
    });
    makeRepository(world.sandbox);
    await world.run(['-p', 'go', ...FLAGS]);
    const runInPlanMode = async (): Promise<string | undefined> => {
      await world.run(['-p', 'Land it.', '--continue', '--permission-mode', 'plan']);
      return world.model.requests.at(-1)?.messages.at(-1)?.toolResults[0]?.text;
    };
    expect(await runInPlanMode()).toContain('which plan mode does not allow');
    action = 'diff';
    expect(await runInPlanMode()).toContain('+TWO');
  });

  it('sees the uncommitted changes of its parent, and is removed when it changes nothing', async () => {
    await using world = await openRepository({
      main: [() => [task('Read b.')]],
      child: [[bash('cat src/b.txt && git status --short && pwd')]],
    });
    const { workspace: cwd } = world.sandbox;
    writeFileSync(join(cwd, 'src/b.txt'), 'alpha\nmine\n');
    const run = await world.run(['-p', 'go', ...FLAGS]);
    expect(run).toMatchObject({ code: 0 });
    const child = world.model.requests.findLast((request) => !isMain(request));
    const told = child?.messages.flatMap((each) => each.toolResults).map(({ text }) => text);
    expect(told?.join('\n')).toMatch(
      /alpha\nmine\n M src\/b\.txt\n.*\/workspaces\/[a-z0-9]+\/tree/,
    );
    const main = world.model.requests.findLast(isMain);
    expect(JSON.stringify(main?.messages)).toContain('It changed nothing in its own worktree');
    expect(git(cwd, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(git(cwd, 'branch', '--list').trim()).toBe('* main');
  });

  it('cannot change the main checkout or its repository', async () => {
    await using world = await openRepository({
      main: [() => [task('Try to escape.')]],
      child: [
        [
          bash(
            'git -C "$(git rev-parse --path-format=absolute --git-common-dir)/.." commit -qam x',
          ),
          bash('git branch evil; git tag evil; git stash; git config user.name evil; echo $?'),
          bash(
            'git worktree add ../evil; git update-ref refs/heads/main HEAD~0 && git checkout main',
          ),
        ],
      ],
    });
    const { workspace: cwd } = world.sandbox;
    const before = git(cwd, 'for-each-ref') + readFileSync(join(cwd, '.git/config'), 'utf8');
    const run = await world.run(['-p', 'go', ...FLAGS]);
    expect(run).toMatchObject({ code: 0 });
    expect(git(cwd, 'for-each-ref') + readFileSync(join(cwd, '.git/config'), 'utf8')).toBe(before);
    expect(git(cwd, 'status', '--short')).toBe('');
    expect(existsSync(join(cwd, '.git/refs/stash'))).toBe(false);
    expect(readdirSync(cwd).toSorted()).toEqual(['.git', '.gitignore', 'src']);
  });

  it('gets paths of the main checkout as paths of its worktree', async () => {
    await using world = await openRepository({
      main: [
        (request) => [
          task(
            `Change ${String(request.systemParts.join('').match(/Directory: (\S+)/)?.[1])}/src/a.txt.`,
          ),
        ],
      ],
      child: [],
    });
    const run = await world.run(['-p', 'go', ...FLAGS]);
    expect(run).toMatchObject({ code: 0 });
    const child = world.model.requests.find((request) => !isMain(request));
    expect(child?.messages[0]?.text).toMatch(
      /Change \/.*\/workspaces\/[a-z0-9]+\/tree\/src\/a\.txt\./,
    );
    expect(child?.systemParts.join('\n')).toContain('were replaced by those here');
  });
});

/** Runs a task that edits in a worktree, and returns its id. */
async function leaveChanges(world: World): Promise<string> {
  const run = await world.run(['-p', 'go', ...FLAGS, '--output-format', 'stream-json']);
  expect(run).toMatchObject({ code: 0 });
  const closed = eventsOf(run).find(({ type }) => type === 'workspace.closed');
  return closed?.task ?? '';
}

describe('the commands for the changes of a task', () => {
  const script: Script = { main: [() => [task('Put two into capitals.')]], child: [[EDIT]] };

  it('shows, applies as a commit and undoes them, with the user at work meanwhile', async () => {
    await using world = await openRepository(script);
    const { workspace: cwd } = world.sandbox;
    const id = await leaveChanges(world);
    const data = ['--data-dir', world.sandbox.data];
    const diff = await world.run(['tasks', 'diff', id, ...data]);
    expect(diff.stdout).toMatch(/--- a\/src\/a\.txt\n\+\+\+ b\/src\/a\.txt\n@@[^]*-two\n\+TWO/);
    writeFileSync(join(cwd, 'src/a.txt'), 'one\ntwo\nthree\nfour\nfive\nsix\n');
    const applied = await world.run(['tasks', 'apply', id, ...data], { env: IDENTITY });
    expect(applied.stdout).toMatch(
      /^task \w+: applied in 1 file as commit [0-9a-f]{10}: src\/a\.txt\n$/,
    );
    const file = () => readFileSync(join(cwd, 'src/a.txt'), 'utf8');
    expect(file()).toBe('one\nTWO\nthree\nfour\nfive\nsix\n');
    expect(git(cwd, 'show', 'HEAD:src/a.txt')).toBe('one\nTWO\nthree\nfour\nfive\n');
    expect(git(cwd, 'status', '--short')).toBe(' M src/a.txt\n');
    expect(git(cwd, 'log', '--format=%s').trim().split('\n')).toEqual(['change a', 'first']);
    expect(git(cwd, 'branch', '--list').trim()).toBe('* main');
    const undone = await world.run(['tasks', 'apply', id, '--undo', ...data]);
    expect(undone).toMatchObject({ code: 0 });
    expect(file()).toBe('one\ntwo\nthree\nfour\nfive\nsix\n');
  });

  it('names conflicts and changes nothing', async () => {
    await using world = await openRepository(script);
    const { workspace: cwd } = world.sandbox;
    const id = await leaveChanges(world);
    const mine = 'one\nzwei\nthree\nfour\nfive\n';
    writeFileSync(join(cwd, 'src/a.txt'), mine);
    const run = await world.run(['tasks', 'apply', id, '--data-dir', world.sandbox.data]);
    expect(run.code).toBe(1);
    expect(run.stdout).toContain(
      '<<<<<<< your file, line 2\nzwei\n=======\nTWO\n>>>>>>> the task, line 2',
    );
    expect(readFileSync(join(cwd, 'src/a.txt'), 'utf8')).toBe(mine);
  });

  it('discards them with the worktree and its branch', async () => {
    await using world = await openRepository(script);
    const { workspace: cwd } = world.sandbox;
    const id = await leaveChanges(world);
    expect(git(cwd, 'branch', '--list', 'muster/*')).toContain(`muster/${id}/change-a`);
    const run = await world.run(['tasks', 'discard', id, '--data-dir', world.sandbox.data]);
    expect(run.stdout).toBe(`task ${id}: the changes of 1 file are deleted\n`);
    expect(git(cwd, 'branch', '--list').trim()).toBe('* main');
    expect(git(cwd, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    const again = await world.run(['tasks', 'diff', id, '--data-dir', world.sandbox.data]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain(
      `the workspace of task ${id} is discarded, so there are no changes`,
    );
  });

  it('stay where they are when the task is imported elsewhere, where it cannot be resumed', async () => {
    await using world = await openRepository(script);
    const id = await leaveChanges(world);
    const file = join(world.sandbox.root, 'tasks.jsonl');
    const from = ['--data-dir', world.sandbox.data];
    expect(await world.run(['tasks', 'export', id, file, ...from])).toMatchObject({ code: 0 });
    const to = ['--data-dir', join(world.sandbox.root, 'other')];
    expect(await world.run(['tasks', 'import', file, ...to])).toMatchObject({ code: 0 });
    const resumed = await world.run(['-p', 'go on', '--resume', id, ...to]);
    expect(resumed.code).not.toBe(0);
    expect(resumed.stderr).toContain('was imported, and it worked in a workspace');
    expect((await world.run(['tasks', 'show', id, ...to])).stdout).toContain('works in');
  });
});
