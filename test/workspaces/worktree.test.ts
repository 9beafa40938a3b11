import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endWorkspace } from '../../src/workspaces/end.ts';
import { listDifferences } from '../../src/workspaces/list-differences.ts';
import { listWorkspaces } from '../../src/workspaces/record.ts';
import { removeWorkspace } from '../../src/workspaces/remove.ts';
import { access, createFor, createRepository, git, hashTree, write } from './repository.ts';

const file = (text: string, executable = false) => ({
  kind: 'file' as const,
  executable,
  bytes: Buffer.from(text),
});

describe('a worktree', () => {
  test('of a clean tree begins at the commit and is removed if nothing has changed', async () => {
    const source = createRepository({ a: 'one\n', 'b/c': 'two\n', '.gitignore': 'out/\n' });
    const before = hashTree(source);
    const { record, dataDir, plan } = await createFor(join(source, 'b'));
    expect(record.source).toBe(source);
    expect(record.subdirectory).toBe('b');
    expect(plan.workingDirectory).toBe(join(record.tree, 'b'));
    expect(record.git?.base).toBe(git(source, 'rev-parse', 'HEAD'));
    expect(record.git?.branch).toBe(`muster/${record.id}/add-a-test`);
    expect(git(record.tree, 'status', '--porcelain', '--branch')).toBe(
      `## muster/${record.id}/add-a-test`,
    );
    expect(readFileSync(join(record.tree, 'b/c'), 'utf8')).toBe('two\n');
    const end = await endWorkspace(record, access);
    expect(end).toEqual({
      record: { ...record, status: 'removed' },
      isChanged: false,
      files: [],
      commits: 0,
      commit: null,
      nested: [],
      ignored: [],
    });
    expect(listWorkspaces(dataDir)).toEqual([]);
    expect(hashTree(source)).toEqual(before);
  });

  test('begins with the changes that are not committed, staged or not', async () => {
    const source = createRepository({ a: 'one\n', b: 'two\n', c: 'three\n', d: 'four\n' });
    write(source, { a: 'changed\n', new: 'untracked\n', staged: 'new\n', b: 'staged\n' });
    git(source, 'add', 'staged', 'b');
    write(source, { b: 'and changed\n' });
    rmSync(join(source, 'c'));
    git(source, 'rm', '--quiet', 'd');
    git(source, 'stash', 'list');
    const before = hashTree(source);
    const { record } = await createFor(source);
    const states = ['status --porcelain', 'diff', 'diff --cached'].map((command) => {
      const args = command.split(' ');
      return [git(record.tree, ...args), git(source, ...args)];
    });
    expect(states.every(([own, user]) => own === user)).toBe(true);
    expect(states[0]?.[0]).not.toBe('');
    expect(await listDifferences(record, access)).toEqual([]);
    const end = await endWorkspace(record, access);
    expect(end.isChanged).toBe(false);
    expect(hashTree(source, /^\.git\/objects\//)).toEqual(
      Object.fromEntries(
        Object.entries(before).filter(([name]) => !name.startsWith('.git/objects/')),
      ),
    );
  });

  test('begins at the commit alone if that is wanted', async () => {
    const source = createRepository({ a: 'one\n' });
    write(source, { a: 'changed\n', new: 'untracked\n' });
    const { record } = await createFor(source, { start: 'commit' });
    expect(git(record.tree, 'status', '--porcelain')).toBe('');
    expect(existsSync(join(record.tree, 'new'))).toBe(false);
  });

  test('keeps the commits of the task and commits the rest', async () => {
    const source = createRepository({ a: '1\n2\n3\n', gone: 'x\n', move: 'moved\nfile\n' });
    write(source, { user: 'of the user\n' });
    const before = hashTree(source, /^\.git\/(objects|worktrees|(logs\/)?refs\/heads\/muster)/);
    const { record, dataDir } = await createFor(source);
    write(record.tree, { a: '1\n2\n3\n4\n' });
    git(record.tree, 'commit', '--quiet', '--all', '--message=own');
    write(record.tree, { 'x/new': 'new\n', '.gitignore': 'out\n', out: 'ignored\n' });
    rmSync(join(record.tree, 'gone'));
    renameSync(join(record.tree, 'move'), join(record.tree, 'moved'));
    const end = await endWorkspace(record, access);
    expect(end).toEqual({
      record: {
        ...record,
        status: 'ended',
        result: { commit: end.commit, commits: 1, endedAt: expect.any(String) },
      },
      isChanged: true,
      files: [
        { path: '.gitignore', status: 'added', added: 1, deleted: 0 },
        { path: 'a', status: 'modified', added: 1, deleted: 0 },
        { path: 'gone', status: 'deleted', added: 0, deleted: 1 },
        { path: 'moved', from: 'move', status: 'renamed', added: 0, deleted: 0 },
        { path: 'x/new', status: 'added', added: 1, deleted: 0 },
        { path: 'out', status: 'added', added: null, deleted: null, notLanded: 'ignored' },
      ],
      commits: 1,
      commit: git(source, 'rev-parse', `${record.git?.branch}`),
      nested: [],
      ignored: ['out'],
    });
    expect(git(record.tree, 'status', '--porcelain')).toBe('');
    expect(git(source, 'log', '--format=%an %s', `main..${record.git?.branch}`)).toBe(
      'Muster Add a test\nUser own',
    );
    expect(await listDifferences(end.record, access)).toEqual([
      { path: '.gitignore', before: null, after: file('out\n') },
      { path: 'a', before: file('1\n2\n3\n'), after: file('1\n2\n3\n4\n') },
      { path: 'gone', before: file('x\n'), after: null },
      { path: 'moved', from: 'move', before: file('moved\nfile\n'), after: file('moved\nfile\n') },
      { path: 'x/new', before: null, after: file('new\n') },
    ]);
    await expect(removeWorkspace(end.record, { ...access, discard: 'nothing' })).rejects.toThrow(
      'its changes were not landed',
    );
    await expect(removeWorkspace(end.record, { ...access, discard: 'landed' })).rejects.toThrow(
      'git ignores out, so it cannot be landed and would be lost',
    );
    rmSync(join(record.tree, 'out'));
    await removeWorkspace(end.record, { ...access, discard: 'landed' });
    expect(listWorkspaces(dataDir)).toEqual([]);
    expect(hashTree(source, /^\.git\/objects/)).toEqual(before);
  });

  test('that the user has changed after the end is not removed', async () => {
    const source = createRepository({ a: 'one\n' });
    const { record } = await createFor(source);
    write(record.tree, { a: 'two\n' });
    const { record: ended } = await endWorkspace(record, access);
    write(record.tree, { a: 'three\n' });
    await expect(removeWorkspace(ended, { ...access, discard: 'landed' })).rejects.toThrow(
      'would be lost',
    );
    await removeWorkspace(ended, { ...access, discard: 'changes' });
    expect(existsSync(record.tree)).toBe(false);
    expect(git(source, 'branch', '--list')).toBe('* main');
  });
});
