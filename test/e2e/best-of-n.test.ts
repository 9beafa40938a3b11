import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type Fault,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import type { RunOptions } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Me',
  GIT_AUTHOR_EMAIL: 'me@localhost',
  GIT_COMMITTER_NAME: 'Me',
  GIT_COMMITTER_EMAIL: 'me@localhost',
};
const RIGHTS = ['--permission-mode', 'acceptEdits', '--allow', 'Bash'];
/** One attempt after the other, so that the script knows which one asks. */
const IN_TURN = { MUSTER_TASK_TOOL_MAX_PARALLEL: '1' };

function git(directory: string, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, ...IDENTITY },
  });
}

/** What an attempt does: a command and then its answer, or a failure. */
type Attempt = string | 'fails';

interface Scene {
  /** What each attempt does, in the order in which they begin. */
  readonly attempts: readonly Attempt[];
  readonly files?: Readonly<Record<string, string>>;
  /** Default: true. */
  readonly isRepository?: boolean;
  /** The fault of the next answer to an attempt, by its number from 0. Default: none. */
  readonly fault?: (attempt: number) => Fault | null;
}

/** Opens a world whose model answers as the scene says. */
async function openScene(scene: Scene): Promise<World> {
  const { attempts, files = {}, isRepository = true, fault } = scene;
  const seen: string[] = [];
  const world = await openWorld({
    files: { 'src/value.txt': '0\n', ...files },
    script: (request: RecordedRequest): Answer => {
      const task = /[/]workspaces[/]([a-z0-9]+)[/]tree/.exec(request.systemParts.join('\n'))?.[1];
      if (task !== undefined && !seen.includes(task)) seen.push(task);
      const at = seen.indexOf(task ?? '');
      const failure = fault?.(at) ?? null;
      if (failure !== null) return { fault: failure };
      const attempt = attempts[at] ?? 'fails';
      if (attempt === 'fails') return { fault: { kind: 'status', status: 400 } };
      const calls: readonly AnswerToolCall[] = [bash(attempt)];
      return toolResultRounds(request) === 0 ? { toolCalls: calls } : { text: 'done' };
    },
  });
  if (isRepository) {
    const { workspace: cwd } = world.sandbox;
    git(cwd, 'init', '-q', '-b', 'main');
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-q', '-m', 'first');
  }
  return world;
}

interface Row {
  readonly attempt: number;
  readonly status: string;
  readonly task_id: string;
  readonly model: string;
  readonly score: {
    readonly value: number | null;
    readonly exit_code: number | null;
    readonly problem: string | null;
  } | null;
  readonly warnings: readonly string[];
  readonly changes: { readonly files: number } | null;
  readonly is_best: boolean;
}

interface Report {
  readonly task_id: string;
  readonly status: string;
  readonly best: readonly string[];
  readonly landed: readonly { readonly status: string; readonly paths: readonly string[] }[];
  readonly items: readonly Row[];
}

function run(world: World, args: readonly string[], options: RunOptions = {}) {
  const env = { ...IDENTITY, ...IN_TURN, ...options.env };
  return world.run(['run', ...args], { ...options, env });
}

async function runJson(world: World, args: readonly string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await run(world, [...args, ...RIGHTS, '--json'], options);
  if (stdout === '') throw new Error(stderr);
  const report: Report = JSON.parse(stdout);
  return { code, stderr, report };
}

function read(world: World, name: string): string {
  return readFileSync(join(world.sandbox.workspace, name), 'utf8');
}

describe.concurrent('best of n', () => {
  it('compares attempts of two models, and lands the one with the best score', async () => {
    await using world = await openScene({
      attempts: [
        'echo 5 > src/value.txt',
        'fails',
        'echo 9 > src/value.txt',
        'echo 7 > src/value.txt',
      ],
    });
    const flags = ['--attempts', '4', '--models', 'anthropic/a-1,anthropic/b-1'];
    const { code, report } = await runJson(world, [
      'best-of-n',
      'Raise the value.',
      ...flags,
      '--score',
      'echo the value is >&2; cat src/value.txt; echo really >&2',
      '--apply',
    ]);
    expect(
      report.items.map(({ attempt, status, model, score, is_best }) => [
        attempt,
        status,
        model,
        score?.value,
        is_best,
      ]),
    ).toEqual([
      [1, 'completed', 'anthropic/a-1', 5, false],
      [2, 'failed', 'anthropic/b-1', undefined, false],
      [3, 'completed', 'anthropic/a-1', 9, true],
      [4, 'completed', 'anthropic/b-1', 7, false],
    ]);
    const best = report.items[2]?.task_id;
    expect(report).toMatchObject({
      status: 'completed',
      best: [best],
      landed: [{ status: 'landed', paths: ['src/value.txt'] }],
    });
    expect(code).toBe(0);
    expect(read(world, 'src/value.txt')).toBe('9\n');
    expect(git(world.sandbox.workspace, 'log', '--format=%s').trim().split('\n')).toEqual([
      'Raise the value',
      'first',
    ]);
    // The others stay.
    const data = ['--data-dir', world.sandbox.data];
    const diff = await world.run(['tasks', 'diff', report.items[3]?.task_id ?? '', ...data]);
    expect(diff.stdout).toContain('+7');
  });

  it('continues after kill -9 without doing or scoring finished attempts again', async () => {
    let hangs = true;
    await using world = await openScene({
      attempts: ['echo 5 > src/value.txt', 'echo 9 > src/value.txt', 'echo 7 > src/value.txt'],
      fault: (attempt) => (hangs && attempt === 2 ? { kind: 'hang' } : null),
    });
    const start = [
      'run',
      'best-of-n',
      'Raise the value.',
      '--score',
      'cat src/value.txt',
      ...RIGHTS,
    ];
    const first = world.start(start, { env: { ...IDENTITY, ...IN_TURN } });
    await world.model.received(5);
    first.process.kill('SIGKILL');
    await first.finished;
    hangs = false;
    const before = world.model.requests.length;
    const flags = ['--continue', '--json', '--permission-mode', 'acceptEdits'];
    const second = await run(world, flags);
    const report: Report = JSON.parse(second.stdout);
    expect(report.items.map(({ status, score }) => [status, score?.value])).toEqual([
      ['completed', 5],
      ['completed', 9],
      ['completed', 7],
    ]);
    expect(report.best).toEqual([report.items[1]?.task_id]);
    // The request of the third attempt is sent again, and then its last one.
    expect(world.model.requests.length - before).toBe(2);
    const scored = report.items.map(
      ({ task_id: id }) =>
        readFileSync(join(world.sandbox.data, 'tasks', `${id}.jsonl`), 'utf8').match(
          /"acceptance\.checked"/g,
        )?.length,
    );
    expect(scored).toEqual([1, 1, 1]);
    const again = await run(world, ['--continue', report.task_id, '--apply', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ landed: [{ status: 'landed' }] });
    expect(read(world, 'src/value.txt')).toBe('9\n');
  });

  it('works without a repository, in copies', async () => {
    await using world = await openScene({
      attempts: ['echo 1 > src/value.txt', 'echo 2 > src/value.txt'],
      isRepository: false,
    });
    const args = ['best-of-n', 'Raise it.', '--attempts', '2', '--score', 'cat src/value.txt'];
    const { code, report } = await runJson(world, [...args, '--apply']);
    expect([code, report.landed.map(({ status }) => status)]).toEqual([0, ['landed']]);
    expect(read(world, 'src/value.txt')).toBe('2\n');
  });

  it('uses the program that scores as it was before, and says so', async () => {
    const files = { 'score.sh': 'cat src/value.txt\n' };
    await using world = await openScene({
      attempts: ['echo echo 99 > score.sh', 'echo 4 > src/value.txt'],
      files,
    });
    const args = ['best-of-n', 'Raise it.', '--attempts', '2', '--score', 'sh score.sh'];
    const { report } = await runJson(world, args);
    expect(report.items.map(({ score, is_best }) => [score?.value, is_best])).toEqual([
      [0, false],
      [4, true],
    ]);
    expect(report.items[0]?.warnings.join()).toContain('as they were before the task: score.sh');
  });

  it('survives commands that print without end, no number, or never end', async () => {
    const score = [
      'case $(cat src/value.txt) in',
      '1) head -c 50000000 /dev/zero | tr "\\0" x; echo; echo 3;;',
      '2) echo NaN; echo 1e999 Infinity;;',
      '3) echo fine; echo "result: -2.5%";;',
      '4) sleep 60; echo 100;;',
      '5) echo "line 12: error"; exit 2;;',
      '6) yes 200;;',
      'esac',
    ].join('\n');
    await using world = await openScene({
      attempts: ['1', '2', '3', '4', '5', '6'].map((each) => `echo ${each} > src/value.txt`),
    });
    const args = ['best-of-n', 'Raise it.', '--attempts', '6', '--score', score];
    const env = { MUSTER_LIVENESS_TOOL_SECONDS: '5' };
    const { report } = await runJson(world, args, { env });
    expect(
      report.items.map(({ score: given, is_best }) => [
        given?.value,
        given?.exit_code,
        given?.problem,
        is_best,
      ]),
    ).toEqual([
      [3, 0, null, true],
      [null, 0, null, false],
      [-2.5, 0, null, false],
      [null, null, expect.stringContaining('limit tool_seconds'), false],
      [12, 2, null, false],
      [null, null, expect.stringContaining('limit tool_seconds'), false],
    ]);
  });

  it('stops at the cost limit of the whole, and prints what it has', async () => {
    await using world = await openScene({ attempts: ['echo 5 > src/value.txt'] });
    const args = [
      'best-of-n',
      'Raise it.',
      '--score',
      'cat src/value.txt',
      '--max-cost-usd',
      '0.000001',
    ];
    const { code, report } = await runJson(world, args);
    expect([code, report.status, report.best]).toEqual([3, 'partial', []]);
  });

  it('shows what can be done next in a table', async () => {
    await using world = await openScene({ attempts: ['echo 1 > src/value.txt', 'true'] });
    const args = ['best-of-n', 'Raise it.', '--attempts', '2', ...RIGHTS];
    const { stdout } = await run(world, args);
    expect(stdout).toMatch(/^# +attempt +status +task +model +changes +turns /);
    expect(stdout).toMatch(/\n1 +1 +completed +\w{8} +anthropic\/\S+ +1 file \+1 −1 /);
    expect(stdout).toMatch(/\n1 +2 +completed +\w{8} +anthropic\/\S+ +none /);
    expect(stdout).toMatch(/\nbest: attempt 1 \(task \w{12}\): muster tasks apply \w{12}\n$/);
  });
});

describe.concurrent('a template with isolation', () => {
  it('gives each item its own worktree, and says which items left changes', async () => {
    const template = '---\nname: mend\nisolation: worktree\naccept: sh check.sh\n---\n{{item}}';
    await using world = await openScene({
      attempts: ['echo 5 > src/value.txt', 'true'],
      files: { '.muster/templates/mend.md': template, 'check.sh': 'grep -q 5 src/value.txt\n' },
    });
    const args = ['mend', 'one', 'two', '--trust-project', ...RIGHTS];
    const { code, stdout } = await run(world, args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n1 +completed +\w{8} +1 file \+1 −1 /);
    expect(stdout).toMatch(/\n2 +failed +\w{8} +none /);
    expect(stdout).toContain('1 task left changes: `muster tasks diff TASK` shows them');
    expect(read(world, 'src/value.txt')).toBe('0\n');
    const id = /\n1 +completed +(\w{8})/.exec(stdout)?.[1] ?? '';
    const data = ['--data-dir', world.sandbox.data];
    const applied = await world.run(['tasks', 'apply', id, ...data], { env: IDENTITY });
    expect(applied.stdout).toMatch(/^task \w{12}: applied in 1 file as commit/);
  });
});
