import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '../../src/base/ids.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { planWorkspace } from '../../src/workspaces/plan.ts';
import { removeWorkspace } from '../../src/workspaces/remove.ts';
import { spawnProcessGroup } from '../../src/sys/processes/process-group.ts';
import { measureTurns } from '../harness/delegation-runs.ts';
import type { ChildJob } from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { createRepository } from '../harness/repository.ts';
import type { Row } from '../harness/row.ts';
import { writeSourceFile, writeSourceTree } from '../harness/source-tree.ts';

const TURNS = 30;
const TURN_ROUNDS = 7;
const LIMITS = { files: 50_000, bytes: 500_000_000 };

/** The time of `git worktree add` and of the same with all that a task needs, and what a turn in a worktree costs. */
export const worktree: Row = {
  name: 'worktree',
  async measure(options) {
    return [
      ...(await measureCreation({ files: 1000, rounds: options.rounds ?? 15 })),
      ...(await measureWorktreeTurns(options)),
    ];
  },
};

/** The creation of a worktree of 50,000 files. */
export const worktreeLarge: Row = {
  name: 'worktree-large',
  isLong: true,
  measure: (options) => measureCreation({ files: 50_000, rounds: options.rounds ?? 5 }),
};

async function measureCreation({
  files,
  rounds,
}: {
  readonly files: number;
  readonly rounds: number;
}): Promise<readonly Measurement[]> {
  using fixture = new Fixture();
  const { workspace } = fixture;
  writeSourceTree(workspace, files);
  createRepository(workspace);
  const environment = fixture.environment(fixture.newHome());
  const dataDir = fixture.path('data');
  const signal = new AbortController().signal;
  const create = async (): Promise<number> => {
    const plan = planWorkspace({ cwd: workspace, id: newId(), description: 'Add a test', dataDir });
    const options = {
      environment,
      start: 'uncommitted',
      limits: LIMITS,
      packages: { names: ['node_modules'], mode: 'link' },
    } as const;
    const startedAt = performance.now();
    const { record } = await createWorkspace(plan, options, signal);
    const elapsed = performance.now() - startedAt;
    await removeWorkspace(record, { environment, signal, discard: 'changes' });
    return elapsed;
  };
  const addWithGit = async (): Promise<number> => {
    const tree = fixture.path(`tree-${newId()}`);
    const branch = `bench/${newId()}`;
    const startedAt = performance.now();
    await runGit(['worktree', 'add', '--quiet', '-b', branch, tree, 'HEAD'], {
      cwd: workspace,
      env: environment,
    });
    const elapsed = performance.now() - startedAt;
    rmSync(tree, { recursive: true });
    const git = (...args: readonly string[]): void => {
      execFileSync('git', args, { cwd: workspace, env: environment, stdio: 'pipe' });
    };
    git('worktree', 'prune');
    git('branch', '--quiet', '-D', branch);
    return elapsed;
  };
  mkdirSync(dataDir, { recursive: true });
  const { created, added } = await interleave(rounds, { created: create, added: addWithGit });
  return [
    {
      title: `a worktree of ${files.toLocaleString('en')} files for a task`,
      unit: 'ms',
      samples: created,
      reference: { title: '`git worktree add` alone', samples: added },
      bound: { kind: 'ratio', max: 1.3, goal: 1.1 },
    },
  ];
}

async function measureWorktreeTurns(
  options: Parameters<Row['measure']>[0],
): Promise<readonly Measurement[]> {
  using fixture = new Fixture();
  const path = 'src/large/file.ts';
  writeSourceTree(fixture.workspace, 300);
  writeSourceFile(join(fixture.workspace, path), 8000);
  createRepository(fixture.workspace);
  const call = (turn: number) =>
    turn % 2 === 0
      ? { name: 'Read', input: { file_path: path, offset: turn + 1, limit: 20 } }
      : { name: 'Grep', input: { pattern: `add[A-Z]${turn}` } };
  const jobs: readonly ChildJob[] = [
    { keyword: path, turns: Array.from({ length: TURNS }, (_, turn) => [call(turn)]) },
  ];
  const shape = { children: 1, turnMs: 20, jobs };
  const rounds = options.rounds ?? TURN_ROUNDS;
  const { inWorktree, plain } = await interleave(rounds, {
    inWorktree: () => measureTurns(fixture, { ...shape, isolation: 'worktree' }, options),
    plain: () => measureTurns(fixture, shape, options),
  });
  return [
    {
      title: 'a turn of a task in a worktree',
      unit: 'ms',
      samples: inWorktree,
      reference: { title: 'the same turn without one', samples: plain },
      bound: { kind: 'ratio', max: 1.05, goal: 1 },
      notes: [
        `from the last byte of an answer to the next request, the median of ${TURNS - 1} turns that read or search`,
      ],
    },
  ];
}

async function runGit(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<void> {
  const group = spawnProcessGroup('git', args, options);
  group.stdout.resume();
  group.stderr.resume();
  const { code } = await group.exited;
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}`);
}
