import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
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
