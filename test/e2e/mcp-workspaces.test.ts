import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  lastUserText,
  toolResultRounds,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { newId } from '../../src/base/ids.ts';
import { findMarked, waitForMarked } from './processes.ts';
import { bash, openWorld, type World } from './world.ts';

const WRITER = join(import.meta.dirname, '../mcp/servers/writer.cjs');
const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');
const ALLOW = ['--allow', 'mcp__writer', '--allow', 'Bash'];
const FLAGS = [...ALLOW, '--permission-mode', 'acceptEdits'];

function git(directory: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  return execFileSync('git', [...identity, ...args], { cwd: directory, encoding: 'utf8' });
}

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

/** Returns the number in the prompt of a child. */
function numberOf(request: RecordedRequest): number {
  return Number(/child (\d)/.exec(lastUserText(request))?.[1] ?? 0);
}

const task = (number: number, isolation: string): AnswerToolCall => ({
  name: 'Task',
  input: { prompt: `You are child ${number}.`, description: `child ${number}`, isolation },
});
const write = (name: string): AnswerToolCall => ({
  name: 'mcp__writer__write',
  input: { name, text: 'from the server\n' },
});

interface Children {
  /** The calls of the main agent, one message after another. */
  readonly main: readonly (readonly AnswerToolCall[])[];
  /** The calls of a child, one message after another. */
  readonly child: (number: number) => readonly (readonly AnswerToolCall[])[];
  readonly scope?: 'user' | 'project';
  /** `NAME=value` in the environment of the server. */
  readonly mark?: string;
  /** Called for each request, before it is answered. */
  readonly onRequest?: () => void;
}

/** Opens a repository with the server `writer`, whose program is a file of it. */
async function openRepository({
  main,
  child,
  scope = 'user',
  mark,
  onRequest,
}: Children): Promise<World> {
  const world = await openWorld({
    files: { 'src/a.txt': 'one\n' },
    script: (request) => {
      onRequest?.();
      const round = toolResultRounds(request);
      const calls = isMain(request) ? main[round] : child(numberOf(request))[round];
      return calls === undefined ? { text: 'done' } : { toolCalls: calls };
    },
  });
  const { workspace: cwd, home } = world.sandbox;
  const script = join(cwd, 'tools/writer.cjs');
  const file = scope === 'user' ? join(home, '.config/muster/mcp.json') : join(cwd, '.mcp.json');
  for (const each of [script, file]) mkdirSync(dirname(each), { recursive: true });
  writeFileSync(script, readFileSync(WRITER, 'utf8'));
  const entry = { command: process.execPath, args: ['tools/writer.cjs', cwd] };
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: {
        writer:
          mark === undefined ? entry : { ...entry, env: Object.fromEntries([mark.split('=')]) },
      },
    }),
  );
  git(cwd, 'init', '-q', '-b', 'main');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '-m', 'first');
  return world;
}

interface Place {
  readonly cwd: string;
  readonly instance: string;
  readonly roots: readonly string[];
  readonly args: readonly string[];
  readonly failed: string | null;
}

/** Returns what the server has said in the results of all requests, each once. */
function placesOf(world: World): readonly Place[] {
  const texts = world.model.requests.flatMap(({ messages }) =>
    messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)),
  );
  const written = texts.flatMap((text) => /\{"cwd".*\}/.exec(text)?.[0] ?? []);
  return [...new Set(written)].map((text) => JSON.parse(text) as Place);
}

function changedFiles(world: World, tree: string): string {
  return git(world.sandbox.workspace, 'diff', '--name-only', 'main', branchOf(world, tree));
}

function branchOf({ sandbox: { workspace } }: World, tree: string): string {
  const branches = git(workspace, 'branch', '--format=%(refname:short) %(worktreepath)');
  return (
    branches
      .split('\n')
      .find((line) => line.endsWith(` ${tree}`))
      ?.split(' ')[0] ?? ''
  );
}

/** Returns what git knows about the files of the main checkout. */
function stateOf({ sandbox: { workspace } }: World): string {
  return git(workspace, 'rev-parse', 'HEAD') + git(workspace, 'status', '--porcelain');
}

const treeOf = (place: Place | undefined): string => place?.cwd ?? '';

describe('an MCP server of a task in a worktree', () => {
  it('works there, for each sibling and for its children, and ends with it', async () => {
    await using world = await openRepository({
      main: [[write('of-main.txt')], [task(1, 'worktree'), task(2, 'worktree')]],
      child: (number) =>
        number === 3
          ? [[write('of-3.txt')]]
          : [[write(`of-${number}.txt`)], ...(number === 2 ? [[task(3, 'none')]] : [])],
    });
    const { workspace: cwd, data } = world.sandbox;
    const run = await world.run(['-p', 'go', ...FLAGS], {
      env: { MUSTER_TASK_TOOL_NESTED: 'true', MUSTER_TASK_TOOL_MAX_DEPTH: '3' },
    });
    expect(run).toMatchObject({ code: 0 });
    const [main, ...others] = placesOf(world);
    expect(main).toMatchObject({ cwd, roots: [pathToFileURL(cwd).href], args: [cwd] });
    const byTree = Map.groupBy(others, (place) => place.cwd);
    expect([...byTree.keys()].every((tree) => tree.startsWith(join(data, 'workspaces')))).toBe(
      true,
    );
    expect(Array.from(byTree, ([, places]) => places.length).toSorted()).toEqual([1, 2]);
    for (const [tree, places] of byTree) {
      expect(new Set(places.map(({ instance }) => instance)).size).toBe(1);
      for (const { roots, args, failed } of places)
        expect([roots, args, failed]).toEqual([[pathToFileURL(tree).href], [tree], null]);
    }
    const changed = [...byTree.keys()].map((tree) => changedFiles(world, tree)).toSorted();
    // What the main agent's own server has written was there when they began.
    expect(changed).toEqual(['of-1.txt\nof-main.txt\n', 'of-2.txt\nof-3.txt\nof-main.txt\n']);
    expect(git(cwd, 'status', '--porcelain')).toBe('?? of-main.txt\n');
    await waitForMarked(world.mark, (pids) => pids.length === 0);
  });

  it('is started with the first call of the task, and has ended when the task has', async () => {
    const mark = `SERVER_OF=${newId()}`;
    const counts: number[] = [];
    await using world = await openRepository({
      main: [[task(1, 'worktree')]],
      child: () => [[bash('true')], [write('a.txt')]],
      mark,
      onRequest: () => void counts.push(findMarked(mark).length),
    });
    const before = stateOf(world);
    await world.run(['-p', 'go', ...FLAGS]);
    const [place, ...others] = placesOf(world);
    expect(others).toEqual([]);
    expect([stateOf(world), readdirSync(treeOf(place))]).toEqual([
      before,
      expect.arrayContaining(['a.txt']),
    ]);
    // The requests: of the main agent, three of the child, and the last one of the main agent.
    const [first = 0, ...rest] = counts;
    expect(rest).toEqual([first, first, expect.any(Number), first]);
    expect(rest[2]).toBeGreaterThan(first);
  });

  it('ends with a stopped task and with a killed process', async () => {
    await using world = await openRepository({
      main: [[task(1, 'worktree')]],
      child: () => [[write('a.txt')], [{ name: 'mcp__writer__wait', input: {} }]],
    });
    const args = ['-p', 'go', ...FLAGS];
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const running = world.start(args);
      const known = placesOf(world).length;
      await waitForMarked(world.mark, () => placesOf(world).length > known);
      running.process.kill(signal);
      await running.finished;
      await waitForMarked(world.mark, (left) => left.length === 0);
    }
    expect(git(world.sandbox.workspace, 'status', '--porcelain')).toBe('');
  });

  it.runIf(HAS_BUBBLEWRAP)('is kept out of the main checkout by the sandbox', async () => {
    await using world = await openRepository({
      main: [[task(1, 'worktree')]],
      child: () => [[write('inside.txt')], [write('/outside.txt')]],
    });
    const { workspace: cwd } = world.sandbox;
    const before = stateOf(world);
    const run = await world.run(['-p', 'go', '--permission-mode', 'autonomous', ...ALLOW]);
    expect(run).toMatchObject({ code: 0 });
    expect(placesOf(world).map(({ failed }) => failed)).toEqual([null, 'EROFS']);
    expect(stateOf(world)).toBe(before);
    expect(readdirSync(cwd)).not.toContain('inside.txt');
  });
});
