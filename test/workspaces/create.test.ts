import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planWorkspace } from '../../src/workspaces/plan.ts';
import {
  listWorkspaces,
  writeWorkspaceRecord,
  type WorkspaceRecord,
} from '../../src/workspaces/record.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { DEFAULT_COPY_LIMITS } from '../../src/workspaces/copy-tree.ts';
import { findAbandonedWorkspaces, removeWorkspace } from '../../src/workspaces/remove.ts';
import { tempDirectory } from '../sys/temp.ts';
import { access, createFor, createRepository, git, hashTree, write } from './repository.ts';

test('an aborted creation leaves nothing', async () => {
  const source = createRepository({ a: '1\n' });
  const before = hashTree(source, /^\.git\/objects/);
  const dataDir = tempDirectory();
  const plan = planWorkspace({ cwd: source, id: 'abcdefgh', description: '', dataDir });
  const controller = new AbortController();
  const creation = createWorkspace(
    plan,
    {
      ...access,
      start: 'uncommitted',
      limits: DEFAULT_COPY_LIMITS,
      packages: { names: [], mode: 'none' },
    },
    controller.signal,
  );
  controller.abort(new Error('stopped'));
  await expect(creation).rejects.toThrow('stopped');
  expect(existsSync(plan.directory)).toBe(false);
  expect(hashTree(source, /^\.git\/objects/)).toEqual(before);
});

test.each(['repository', 'directory'])(
  'exactly the data directory is left out of a %s that contains it',
  async (kind) => {
    const source = kind === 'repository' ? createRepository({ a: '1\n' }) : tempDirectory();
    const dataDir = join(source, 'inner/data');
    write(source, { a: '1\n', 'inner/b': '2\n', 'inner/data/logs/secret': 'log\n' });
    const { record } = await createFor(source, { dataDir });
    expect(Object.keys(hashTree(record.tree, /^\.git$/)).toSorted()).toEqual([
      'a',
      'inner',
      'inner/b',
    ]);
  },
);

describe('what killed processes leave', () => {
  test('is found, and a new creation of the same workspace begins again', async () => {
    const source = createRepository({ a: '1\n' });
    const { record, dataDir, plan } = await createFor(source);
    const { git: parts, ...rest } = record;
    const unfinished = {
      commonDirectory: parts?.commonDirectory ?? '',
      branch: parts?.branch ?? '',
    };
    const half: WorkspaceRecord = { ...rest, status: 'creating', unfinished };
    writeWorkspaceRecord(half);
    writeFileSync(join(source, '.git/refs/heads', `${unfinished.branch}.lock`), '');
    writeFileSync(join(parts?.gitDirectory ?? '', 'locked'), 'initializing\n');
    expect(findAbandonedWorkspaces(dataDir, () => true)).toEqual([]);
    expect(findAbandonedWorkspaces(dataDir, () => false)).toEqual([
      { workspace: half, state: 'creating' },
    ]);
    const again = await createWorkspace(
      plan,
      {
        ...access,
        start: 'uncommitted',
        limits: DEFAULT_COPY_LIMITS,
        packages: { names: [], mode: 'none' },
      },
      access.signal,
    );
    expect(again.record.git).toEqual(record.git);
    await expect(
      createWorkspace(
        plan,
        {
          ...access,
          start: 'uncommitted',
          limits: DEFAULT_COPY_LIMITS,
          packages: { names: [], mode: 'none' },
        },
        access.signal,
      ),
    ).rejects.toThrow('has a workspace already');
  });

  test('can be removed by its record', async () => {
    const source = createRepository({ a: '1\n' });
    const { record, dataDir } = await createFor(source);
    mkdirSync(join(record.tree, '../landings'));
    const removed: WorkspaceRecord = { ...record, status: 'removed' };
    writeWorkspaceRecord(removed);
    expect(findAbandonedWorkspaces(dataDir, () => false)).toEqual([
      { workspace: removed, state: 'removing' },
    ]);
    await removeWorkspace(removed, { ...access, discard: 'nothing' });
    expect(findAbandonedWorkspaces(dataDir, () => false)).toEqual([]);
    expect(listWorkspaces(dataDir)).toEqual([removed]);
    expect(git(source, 'worktree', 'list').split('\n').length).toBe(1);
  });

  test.each([
    ['', 'is not JSON'],
    ['[]', 'holds no object'],
    ['{"version":2}', 'the field version is missing or wrong'],
  ])('a record that is %j is a problem with a name', async (content, problem) => {
    const { record, dataDir } = await createFor(createRepository({ a: '1\n' }));
    writeFileSync(join(record.tree, '../workspace.json'), content);
    expect(findAbandonedWorkspaces(dataDir, () => false)).toEqual([
      {
        workspace: {
          directory: join(dataDir, 'workspaces', record.id),
          problem: expect.stringContaining(problem),
        },
        state: 'damaged',
      },
    ]);
  });
});
