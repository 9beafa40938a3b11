import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PathDifference, PathState } from '../../../src/workspaces/difference.ts';
import { createGitPort, prepareCommit } from '../../../src/workspaces/landing/commit.ts';
import type { GitChange } from '../../../src/workspaces/landing/git-change.ts';
import { access, createFor, createRepository, git, hashTree, write } from '../repository.ts';

const file = (text: string): PathState => ({
  kind: 'file',
  executable: false,
  bytes: Buffer.from(text),
});

/** Prepares a commit that brings these paths of the last commit to these states. */
async function prepare(source: string, changes: Readonly<Record<string, PathState>>) {
  const { record } = await createFor(source, { start: 'commit' });
  const change = await prepareCommit(
    {
      record,
      message: 'Land it\n',
      paths: Object.keys(changes),
      merge: (head) =>
        Object.entries(changes).map(([path, after]): PathDifference => {
          return { path, before: head.read(path), after };
        }),
    },
    access,
  );
  if (change === null) throw new Error('no change');
  const port = createGitPort(record.id, access);
  return {
    record,
    change,
    bringTo: (side: 'before' | 'after', foreignChanges: 'leave' | 'refuse' = 'refuse') =>
      port.bringTo(side, source, change, foreignChanges),
  };
}

const indexOf = (source: string) => git(source, 'ls-files', '--stage');

test('a commit moves the branch and the entries that the user has not staged, and back', async () => {
  const source = createRepository({ a: '1\n', b: '2\n', 'd/e': '3\n', f: '5\n', old: '4\n' });
  write(source, { b: 'landed too\n', f: 'staged by the user\n', c: 'unstaged\n' });
  git(source, 'add', 'b', 'f');
  const before = hashTree(source, /^\.git\/(objects|worktrees|logs|index|refs\/heads\/muster)/);
  const beforeIndex = indexOf(source);
  const { change, bringTo } = await prepare(source, {
    a: file('landed\n'),
    b: file('landed too\n'),
    d: file('a file now\n'),
    'd/e': null,
    old: null,
    'new/x': { kind: 'link', target: '../a' },
  });
  expect(change.index.map(({ path }) => path)).toEqual(['a', 'd', 'd/e', 'new/x', 'old']);
  await bringTo('after');
  await bringTo('after');
  expect(git(source, 'rev-parse', 'main')).toBe(change.ref?.after);
  expect(git(source, 'log', '--format=%an: %s')).toBe('Muster: Land it\nUser: first');
  expect(git(source, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n')).toEqual([
    'a',
    'b',
    'd',
    'f',
    'new/x',
  ]);
  expect(git(source, 'show', 'HEAD:b')).toBe('landed too');
  expect(git(source, 'show', ':f')).toBe('staged by the user');
  expect(git(source, 'diff', '--cached', '--name-only')).toBe('f');
  await bringTo('before');
  await bringTo('before');
  expect(indexOf(source)).toBe(beforeIndex);
  expect(hashTree(source, /^\.git\/(objects|worktrees|logs|index|refs\/heads\/muster)/)).toEqual(
    before,
  );
});

test('a repository without a commit, with SHA-256 and line ends of the checkout', async () => {
  const source = createRepository({}, '--object-format=sha256');
  git(source, 'update-ref', '-d', 'HEAD');
  git(source, 'config', 'core.autocrlf', 'true');
  const { change, bringTo } = await prepare(source, { a: file('one\r\ntwo\r\n') });
  await bringTo('after');
  expect(git(source, 'cat-file', '-s', 'HEAD:a')).toBe('8');
  expect(change.ref).toEqual({
    name: 'refs/heads/main',
    before: null,
    after: git(source, 'rev-parse', 'HEAD'),
  });
  await bringTo('before');
  expect(() => git(source, 'rev-parse', '--verify', '--quiet', 'HEAD')).toThrow();
  expect(indexOf(source)).toBe('');
});

test('a detached HEAD moves alone', async () => {
  const source = createRepository({ a: '1\n' });
  git(source, 'checkout', '--quiet', '--detach');
  const main = git(source, 'rev-parse', 'main');
  const { change, bringTo } = await prepare(source, { a: file('2\n') });
  await bringTo('after');
  expect(git(source, 'rev-parse', 'HEAD')).toBe(change.ref?.after);
  expect(git(source, 'rev-parse', 'main')).toBe(main);
});

test.each<[string, (source: string) => void]>([
  [
    'refs/heads/main',
    (source) => git(source, 'commit', '--quiet', '--allow-empty', '--message=other'),
  ],
  [
    'the index at a',
    (source) => {
      write(source, { a: 'other\n' });
      git(source, 'add', 'a');
    },
  ],
])('a repository that changes meanwhile is left as it is: %s', async (message, change) => {
  const source = createRepository({ a: '1\n' });
  const { bringTo } = await prepare(source, { a: file('2\n') });
  change(source);
  const before = hashTree(source);
  const status = git(source, 'status', '--short');
  await expect(bringTo('after')).rejects.toThrow(
    `${source}: somebody else has changed this just now: ${message}`,
  );
  expect(hashTree(source)).toEqual(before);
  for (const side of ['after', 'before'] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await bringTo(side, 'leave')).toEqual([message]);
  }
  expect(git(source, 'status', '--short')).toBe(status);
});

test('a file with other staged changes is refused', async () => {
  const source = createRepository({ a: '1\n', b: '2\n' });
  write(source, { a: 'staged by the user\n' });
  git(source, 'add', 'a');
  git(source, 'rm', '--quiet', '--cached', 'b');
  const before = hashTree(source, /^\.git\/(objects|worktrees|logs|refs\/heads\/muster)/);
  await expect(prepare(source, { a: file('landed\n'), b: file('landed\n') })).rejects.toThrow(
    'nothing was changed, because you have staged changes in a, b, and your next commit would revert those of the task there; commit or unstage yours first, or use --no-commit',
  );
  expect(hashTree(source, /^\.git\/(objects|worktrees|logs|refs\/heads\/muster)/)).toEqual(before);
});

test.each([
  ['a merge', ['merge', 'other']],
  ['a rebase', ['rebase', 'other']],
  ['a rebase', ['rebase', '--apply', 'other']],
  ['a cherry-pick', ['cherry-pick', 'other']],
  ['a revert', ['revert', '--no-edit', 'HEAD~1']],
])('nothing is committed in the middle of %s (git %j)', async (operation, args) => {
  const source = createRepository({ a: '1\n', b: '1\n' });
  git(source, 'checkout', '--quiet', '-b', 'other');
  write(source, { a: '2\n' });
  git(source, 'commit', '--quiet', '--all', '--message=other');
  git(source, 'checkout', '--quiet', 'main');
  for (const text of ['3\n', '4\n']) {
    write(source, { a: text });
    git(source, 'commit', '--quiet', '--all', '--message=mine');
  }
  expect(() => git(source, ...args)).toThrow();
  await expect(prepare(source, { b: file('landed\n') })).rejects.toThrow(
    `nothing was changed, because ${operation} in ${source} is not finished, and a commit would disturb it; finish it first, or use --no-commit`,
  );
});

test('nothing is committed to a branch that a hostile task has chosen', async () => {
  const source = createRepository({ a: '1\n' });
  const { record: parent, dataDir } = await createFor(source);
  const { record } = await createFor(parent.tree, { dataDir });
  write(parent.git?.gitDirectory ?? '', { HEAD: 'ref: refs/heads/main\n' });
  const request = { record, message: '', paths: [], merge: () => [] };
  await expect(prepareCommit(request, access)).rejects.toThrow('which does not belong to task');
  rmSync(join(source, '.git'), { recursive: true });
  await expect(prepareCommit({ ...request, record: parent }, access)).rejects.toThrow(
    'is no repository any more',
  );
});

test('a merge without changes makes no commit', async () => {
  const source = createRepository({ a: '1\n' });
  const { record } = await createFor(source);
  const request = { record, message: '', paths: ['a'], merge: () => [] };
  const change: GitChange | null = await prepareCommit(request, access);
  expect(change).toBe(null);
});
