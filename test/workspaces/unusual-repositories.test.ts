import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endWorkspace } from '../../src/workspaces/end.ts';
import { listDifferences } from '../../src/workspaces/list-differences.ts';
import { planWorkspace } from '../../src/workspaces/plan.ts';
import { removeWorkspace } from '../../src/workspaces/remove.ts';
import type { WorkspaceRecord } from '../../src/workspaces/record.ts';
import { canMount, makeReadOnly, smallDisk } from '../small-disk.ts';
import { tempDirectory } from '../sys/temp.ts';
import { access, createFor, createRepository, git, hashTree, write } from './repository.ts';

const file = (content: string) => ({
  kind: 'file',
  executable: false,
  bytes: Buffer.from(content),
});
/**
 * Objects, the worktree of the task, its branch and the log of the branch. Git leaves the empty directories of the first
 * log.
 */
const MAY_CHANGE =
  /^\.git\/(objects$|objects\/|worktrees|(logs\/)?refs\/heads\/muster|logs(\/refs(\/heads)?)?$)/;

/** Changes a file, ends the task, and removes the workspace. Nothing else in the repository may change meanwhile. */
async function liveThrough(record: WorkspaceRecord, change: () => void) {
  const before = hashTree(record.source, /^\.git\/objects/);
  change();
  const end = await endWorkspace(record, access);
  const differences = await listDifferences(end.record, access);
  expect(hashTree(record.source, /^\.git\/objects/)).toMatchObject(withoutOwn(before));
  await removeWorkspace(end.record, { ...access, discard: 'changes' });
  const after = hashTree(record.source, /^\.git\/objects/);
  expect(withoutOwn(after)).toEqual(withoutOwn(before));
  return { end, differences };
}

function withoutOwn(hashes: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(hashes).filter(([name]) => !MAY_CHANGE.test(name)));
}

test('a repository without a commit', async () => {
  const source = tempDirectory();
  git(source, 'init', '--quiet', '--initial-branch=main');
  write(source, { a: 'one\n', b: 'two\n' });
  git(source, 'add', 'a');
  const { record } = await createFor(source);
  expect(record.git?.head).toBe(null);
  expect(git(record.tree, 'status', '--porcelain', '--branch')).toBe(
    `## No commits yet on ${record.git?.branch}\nA  a\n?? b`,
  );
  const { differences, end } = await liveThrough(record, () => write(record.tree, { b: 'new\n' }));
  expect(differences).toEqual([{ path: 'b', before: file('two\n'), after: file('new\n') }]);
  expect(end.commits).toBe(0);
});

test('an empty repository without a commit, from the commit alone', async () => {
  const source = tempDirectory();
  git(source, 'init', '--quiet');
  const { record } = await createFor(source, { start: 'commit' });
  const { differences } = await liveThrough(record, () => {
    write(record.tree, { a: 'new\n' });
    git(record.tree, 'add', 'a');
    git(record.tree, 'commit', '--quiet', '--message=own');
  });
  expect(differences).toEqual([{ path: 'a', before: null, after: file('new\n') }]);
});

test('a detached HEAD', async () => {
  const source = createRepository({ a: 'one\n' });
  git(source, 'checkout', '--quiet', '--detach');
  const { record } = await createFor(source);
  const { differences } = await liveThrough(record, () => rmSync(join(record.tree, 'a')));
  expect(differences).toEqual([{ path: 'a', before: file('one\n'), after: null }]);
});

test('a shallow clone', async () => {
  const origin = createRepository({ a: 'one\n' });
  write(origin, { a: 'two\n' });
  git(origin, 'commit', '--quiet', '--all', '--message=second');
  const source = join(tempDirectory(), 'clone');
  git(origin, 'clone', '--quiet', '--depth=1', `file://${origin}`, source);
  const { record } = await createFor(source);
  const { differences } = await liveThrough(record, () => write(record.tree, { a: 'three\n' }));
  expect(differences).toEqual([{ path: 'a', before: file('two\n'), after: file('three\n') }]);
});

test('a sparse checkout', async () => {
  const source = createRepository({ 'in/a': '1\n', 'out/b': '2\n', 'out/c': '3\n' });
  git(source, 'sparse-checkout', 'set', 'in');
  const { record } = await createFor(source);
  expect(readdirSync(record.tree).toSorted()).toEqual(['.git', 'in']);
  const { differences } = await liveThrough(record, () => {
    write(record.tree, { 'in/a': 'changed\n', 'out/b': 'also changed\n' });
  });
  expect(differences).toEqual([
    { path: 'in/a', before: file('1\n'), after: file('changed\n') },
    { path: 'out/b', before: file('2\n'), after: file('also changed\n') },
  ]);
});

test('files of Git LFS stay pointers, and no filter runs', async () => {
  const marker = join(tempDirectory(), 'ran');
  const source = createRepository({
    '.gitattributes': '*.bin filter=lfs -text\n',
    'a.bin': 'pointer\n',
    'b.bin': 'pointer b\n',
  });
  for (const key of ['clean', 'smudge', 'process']) {
    git(source, 'config', `filter.lfs.${key}`, `sh -c 'touch ${marker}; cat'`);
  }
  git(source, 'config', 'filter.lfs.required', 'true');
  writeFileSync(join(source, 'a.bin'), 'changed by the user\n');
  const { record, notes } = await createFor(source);
  expect(notes).toEqual([
    'files that a filter of git manages are as they were committed, without your changes: a.bin',
  ]);
  expect(readFileSync(join(record.tree, 'a.bin'), 'utf8')).toBe('pointer\n');
  const { differences } = await liveThrough(record, () =>
    write(record.tree, { 'b.bin': 'large\n' }),
  );
  expect(differences).toEqual([
    {
      path: 'b.bin',
      before: file('pointer b\n'),
      after: file('large\n'),
      unmergeable: 'a filter of git manages its content',
    },
  ]);
  expect(existsSync(marker)).toBe(false);
});

test('submodules stay empty, and what is put into them is not lost', async () => {
  const module = createRepository({ m: 'module\n' });
  const source = createRepository({ a: '1\n' });
  git(source, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module, 'sub');
  git(source, 'commit', '--quiet', '--message=submodule');
  const { record } = await createFor(source);
  expect(readdirSync(join(record.tree, 'sub'))).toEqual([]);
  write(record.tree, { 'sub/new': 'work\n', a: '2\n' });
  const end = await endWorkspace(record, access);
  expect(end.files.map(({ path }) => path)).toEqual(['a', 'sub']);
  await expect(removeWorkspace(end.record, { ...access, discard: 'landed' })).rejects.toThrow(
    'sub holds another repository or other files',
  );
  const { record: first } = await createFor(source);
  write(first.tree, { 'sub/new': 'work\n' });
  const { isChanged, nested } = await endWorkspace(first, access);
  expect({ isChanged, nested }).toEqual({ isChanged: true, nested: ['sub'] });
  expect(existsSync(join(first.tree, 'sub/new'))).toBe(true);
  const { record: second } = await createFor(source);
  const { differences } = await liveThrough(second, () =>
    rmSync(join(second.tree, 'sub'), { recursive: true }),
  );
  expect(differences).toEqual([
    { path: 'sub', before: null, after: null, unmergeable: 'it is a submodule' },
  ]);
});

test('a repository that the task creates is named and not lost', async () => {
  const { record } = await createFor(createRepository({ a: '1\n' }));
  mkdirSync(join(record.tree, 'inner'));
  git(join(record.tree, 'inner'), 'init', '--quiet');
  write(record.tree, { 'inner/file': 'work\n' });
  const end = await endWorkspace(record, access);
  expect({ isChanged: end.isChanged, nested: end.nested }).toEqual({
    isChanged: true,
    nested: ['inner'],
  });
  expect(existsSync(join(record.tree, 'inner/file'))).toBe(true);
});

test('a worktree stays while one that began in it is not landed', async () => {
  const { record: parent, dataDir } = await createFor(createRepository({ a: '1\n' }));
  const { record: child } = await createFor(parent.tree, { dataDir });
  write(child.tree, { a: 'of the child\n' });
  await endWorkspace(child, access);
  const end = await endWorkspace(parent, access);
  expect({ isChanged: end.isChanged, files: end.files }).toEqual({ isChanged: true, files: [] });
  await expect(removeWorkspace(end.record, { ...access, discard: 'landed' })).rejects.toThrow(
    `the workspace of task ${child.id} began in it`,
  );
  await removeWorkspace(child, { ...access, discard: 'changes' });
  expect((await endWorkspace(end.record, access)).isChanged).toBe(false);
});

test('a worktree inside a worktree', async () => {
  const source = createRepository({ 'a/b': '1\n' });
  const linked = join(source, 'linked');
  git(source, 'worktree', 'add', '--quiet', '-b', 'other', linked);
  write(linked, { 'a/b': 'of the linked one\n' });
  const { record: parent } = await createFor(linked);
  expect(parent.source).toBe(linked);
  write(parent.tree, { 'a/b': 'of the parent\n' });
  const { record: child, dataDir } = await createFor(join(parent.tree, 'a'));
  expect(child.source).toBe(parent.tree);
  expect(readFileSync(join(child.tree, 'a/b'), 'utf8')).toBe('of the parent\n');
  const end = await endWorkspace(child, access);
  expect(end.isChanged).toBe(false);
  expect(readdirSync(join(dataDir, 'workspaces'))).toEqual([]);
  expect(git(parent.tree, 'status', '--porcelain')).toBe(' M a/b');
});

test('a bare repository works from its worktrees only', async () => {
  const bare = join(tempDirectory(), 'bare');
  git(createRepository({ a: '1\n' }), 'clone', '--quiet', '--bare', '.', bare);
  expect(() =>
    planWorkspace({ cwd: bare, id: 'abcdefgh', description: '', dataDir: tempDirectory() }),
  ).toThrow('which has no working tree; start in a working tree of it');
  const linked = join(bare, 'linked');
  git(bare, 'worktree', 'add', '--quiet', linked);
  const { record } = await createFor(linked);
  write(record.tree, { a: '2\n' });
  const end = await endWorkspace(record, access);
  expect(end.files).toEqual([{ path: 'a', status: 'modified', added: 1, deleted: 1 }]);
  await removeWorkspace(end.record, { ...access, discard: 'changes' });
  expect(git(bare, 'worktree', 'list').split('\n').length).toBe(2);
});

test('the directory .git itself has no working tree', () => {
  const source = createRepository({ a: '1\n' });
  const cwd = join(source, '.git/hooks');
  expect(() =>
    planWorkspace({ cwd, id: 'abcdefgh', description: '', dataDir: tempDirectory() }),
  ).toThrow('a git directory');
});

test.each(['core.ignorecase true', 'core.autocrlf true', 'core.fileMode false'])(
  '%s',
  async (setting) => {
    const source = createRepository({ a: 'one\ntwo\n', A2: '1\n' });
    const [name = '', value = ''] = setting.split(' ');
    git(source, 'config', name, value);
    const isConverted = name === 'core.autocrlf';
    const end = isConverted ? '\r\n' : '\n';
    const { record } = await createFor(source);
    expect(readFileSync(join(record.tree, 'a'), 'utf8')).toBe(`one${end}two${end}`);
    const { differences } = await liveThrough(record, () =>
      write(record.tree, { a: `one${end}2${end}` }),
    );
    expect(differences).toEqual([
      { path: 'a', before: file(`one${end}two${end}`), after: file(`one${end}2${end}`) },
    ]);
  },
);

test('line endings of attributes', async () => {
  const source = createRepository({
    '.gitattributes': '*.bat eol=crlf\n',
    'a.bat': 'one\r\ntwo\r\n',
  });
  const { record } = await createFor(source);
  const { differences } = await liveThrough(record, () =>
    write(record.tree, { 'a.bat': 'one\r\n2\r\n' }),
  );
  expect(differences).toEqual([
    { path: 'a.bat', before: file('one\r\ntwo\r\n'), after: file('one\r\n2\r\n') },
  ]);
});

test('objects with SHA-256', async () => {
  const source = createRepository({ a: '1\n' }, '--object-format=sha256');
  const { record } = await createFor(source);
  expect(record.git?.base.length).toBe(64);
  const { differences } = await liveThrough(record, () => write(record.tree, { a: '2\n' }));
  expect(differences).toEqual([{ path: 'a', before: file('1\n'), after: file('2\n') }]);
});

test('names with every kind of character', async () => {
  const names = ['a\nb', '"quoted"', '-leading', "it's", 'tab\there', ' blank ', 'ü', '*', '\\'];
  const source = createRepository(Object.fromEntries(names.map((name) => [name, '1\n'])));
  const bytes = Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0x66, 0xff])]);
  writeFileSync(bytes, 'not UTF-8\n');
  const { record } = await createFor(source);
  const copy = Buffer.concat([Buffer.from(`${record.tree}/`), Buffer.from([0x66, 0xff])]);
  expect(readFileSync(copy, 'utf8')).toBe('not UTF-8\n');
  const { differences } = await liveThrough(record, () => {
    for (const name of names) write(record.tree, { [name]: '2\n' });
    writeFileSync(copy, 'changed\n');
  });
  expect(differences.map(({ path }) => path).toSorted()).toEqual([...names, 'f\u00ff'].toSorted());
  expect(differences.filter(({ unmergeable }) => unmergeable !== undefined)).toEqual([
    {
      path: 'f\u00ff',
      before: file('not UTF-8\n'),
      after: file('changed\n'),
      unmergeable: 'its name is not UTF-8',
    },
  ]);
});

test('links and permissions', async () => {
  const source = createRepository({ a: '1\n', 'd/e': '2\n' });
  symlinkSync('/etc/passwd', join(source, 'link'));
  const { record } = await createFor(source);
  const { differences } = await liveThrough(record, () => {
    rmSync(join(record.tree, 'd'), { recursive: true });
    symlinkSync('a', join(record.tree, 'd'));
    chmodSync(join(record.tree, 'a'), 0o755);
    rmSync(join(record.tree, 'link'));
    write(record.tree, { 'link/inside': '3\n' });
  });
  expect(differences).toEqual([
    { path: 'a', before: file('1\n'), after: { ...file('1\n'), executable: true } },
    { path: 'd', before: null, after: { kind: 'link', target: 'a' } },
    { path: 'd/e', before: file('2\n'), after: null },
    { path: 'link', before: { kind: 'link', target: '/etc/passwd' }, after: null },
    { path: 'link/inside', before: null, after: file('3\n') },
  ]);
});

test('conflicts that the user has not solved', async () => {
  const source = createRepository({ a: '1\n', b: '1\n' });
  git(source, 'checkout', '--quiet', '-b', 'other');
  write(source, { a: 'other\n' });
  git(source, 'commit', '--quiet', '--all', '--message=other');
  git(source, 'checkout', '--quiet', 'main');
  write(source, { a: 'main\n' });
  git(source, 'commit', '--quiet', '--all', '--message=main');
  expect(() => git(source, 'merge', 'other')).toThrow();
  const { record } = await createFor(source);
  const conflict = readFileSync(join(source, 'a'), 'utf8');
  expect(readFileSync(join(record.tree, 'a'), 'utf8')).toBe(conflict);
  const { differences } = await liveThrough(record, () => write(record.tree, { b: '2\n' }));
  expect(differences.map(({ path }) => path)).toEqual(['b']);
});

test.runIf(canMount)('a read-only repository', () => {
  const source = smallDisk(4000);
  git(source, 'init', '--quiet');
  makeReadOnly(source);
  expect(() =>
    planWorkspace({ cwd: source, id: 'abcdefgh', description: '', dataDir: tempDirectory() }),
  ).toThrow(`${source}/.git is read-only, so git cannot create a worktree for the task`);
});

test.runIf(canMount)('a full disk', async () => {
  const source = createRepository({ a: randomBytes(3_000_000), b: '1\n' });
  const before = withoutOwn(hashTree(source));
  const disk = smallDisk(2000);
  await expect(createFor(source, { dataDir: disk })).rejects.toThrow('is the disk full?');
  expect(readdirSync(join(disk, 'workspaces'))).toEqual([]);
  expect(withoutOwn(hashTree(source))).toEqual(before);
  expect(git(source, 'worktree', 'list').split('\n').length).toBe(1);
  expect(git(source, 'branch', '--list')).toBe('* main');
});

describe('a directory without a repository', () => {
  test('is copied, and only what the task has changed counts', async () => {
    const source = tempDirectory();
    write(source, { a: '1\n', 'b/c': '2\n', 'b/d': '3\n' });
    symlinkSync('a', join(source, 'link'));
    chmodSync(join(source, 'a'), 0o640);
    const before = hashTree(source);
    const { record } = await createFor(source);
    expect(hashTree(record.tree)).toEqual(before);
    write(record.tree, { 'b/c': 'changed\n', new: 'n\n' });
    rmSync(join(record.tree, 'b/d'));
    const end = await endWorkspace(record, access);
    expect(await listDifferences(end.record, access)).toEqual([
      { path: 'b/c', before: file('2\n'), after: file('changed\n') },
      { path: 'b/d', before: file('3\n'), after: null },
      { path: 'new', before: null, after: file('n\n') },
    ]);
    expect(hashTree(source)).toEqual(before);
    await expect(removeWorkspace(end.record, { ...access, discard: 'nothing' })).rejects.toThrow(
      '3 changed files would be lost',
    );
    await removeWorkspace(end.record, { ...access, discard: 'changes' });
    expect(existsSync(join(record.tree, '..'))).toBe(false);
  });

  test('is removed if nothing has changed, also if the data directory is in it', async () => {
    const source = tempDirectory();
    write(source, { a: '1\n' });
    const { record, dataDir } = await createFor(source, { dataDir: join(source, 'data') });
    expect(readdirSync(record.tree)).toEqual(['a']);
    expect((await endWorkspace(record, access)).isChanged).toBe(false);
    expect(readdirSync(join(dataDir, 'workspaces'))).toEqual([]);
  });

  test.each([
    { files: 2, bytes: 1000 },
    { files: 1000, bytes: 5 },
  ])('has limits: %o', async (limits) => {
    const source = tempDirectory();
    write(source, { a: '1\n', b: '2\n', c: '3\n' });
    const dataDir = tempDirectory();
    const limit = limits.files === 2 ? '2 files' : '5 bytes';
    await expect(createFor(source, { dataDir, limits })).rejects.toThrow(
      `may copy at most ${limit}`,
    );
    expect(readdirSync(join(dataDir, 'workspaces'))).toEqual([]);
  });
});
