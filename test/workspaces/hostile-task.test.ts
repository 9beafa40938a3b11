import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endWorkspace } from '../../src/workspaces/end.ts';
import { listDifferences } from '../../src/workspaces/list-differences.ts';
import { removeWorkspace } from '../../src/workspaces/remove.ts';
import { tempDirectory } from '../sys/temp.ts';
import { access, createFor, createRepository, git, hashTree, write } from './repository.ts';

/** Everything except what a task may write. */
const OTHER = /^\.git\/(objects|worktrees|(logs\/)?refs\/heads\/muster)/;

async function createVictim() {
  const source = createRepository({ a: '1\n', b: '2\n' });
  const { record } = await createFor(source);
  const parts = record.git;
  if (parts === undefined) throw new Error('no worktree');
  return { source, record, parts, before: hashTree(source, OTHER) };
}

test('hooks, filters and settings of the git directory of the worktree run nothing', async () => {
  const source = createRepository({ a: '1\n', '.gitattributes': '*.x filter=evil\n' });
  const marker = join(tempDirectory(), 'ran');
  const evil = `sh -c 'touch ${marker}'`;
  write(join(source, '.git/hooks'), { 'post-checkout': `#!/bin/sh\ntouch ${marker}\n` });
  for (const name of ['post-checkout', 'reference-transaction', 'post-index-change']) {
    writeFileSync(join(source, '.git/hooks', name), `#!/bin/sh\ntouch ${marker}\n`, {
      mode: 0o755,
    });
  }
  git(source, 'config', 'extensions.worktreeConfig', 'true');
  rmSync(marker, { force: true });
  const { record } = await createFor(source);
  write(record.git?.gitDirectory ?? '', {
    'config.worktree': `[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${record.tree}\n[filter "evil"]\n\tclean = ${evil}\n\tprocess = ${evil}\n\trequired = true\n[diff]\n\texternal = ${evil}\n`,
  });
  write(record.tree, { 'new.x': 'content\n', a: '2\n' });
  const end = await endWorkspace(record, access);
  expect(end.files.map(({ path }) => path)).toEqual(['a', 'new.x']);
  await listDifferences(end.record, access);
  await removeWorkspace(end.record, { ...access, discard: 'changes' });
  expect(existsSync(marker)).toBe(false);
});

test('HEAD of the worktree does not lead to a branch of the user', async () => {
  const { source, record, parts, before } = await createVictim();
  writeFileSync(join(parts.gitDirectory, 'HEAD'), 'ref: refs/heads/main\n');
  write(record.tree, { a: 'changed\n' });
  const end = await endWorkspace(record, access);
  expect(git(source, 'rev-parse', parts.branch)).toBe(end.commit);
  expect(hashTree(source, OTHER)).toEqual(before);
});

test.each(['a symbolic ref', 'a link', 'a link of the directory', 'a directory', 'a lock'])(
  'the branch of the task as %s does not lead to a branch of the user',
  async (kind) => {
    const { source, record, parts, before } = await createVictim();
    const path = join(source, '.git/refs/heads', parts.branch);
    const log = join(source, '.git/logs/refs/heads', parts.branch);
    if (kind !== 'a lock') rmSync(path);
    if (kind === 'a symbolic ref') writeFileSync(path, 'ref: refs/heads/main\n');
    if (kind === 'a link') {
      symlinkSync(join(source, '.git/refs/heads/main'), path);
      rmSync(log);
      symlinkSync(join(source, '.git/config'), log);
    }
    if (kind === 'a link of the directory') {
      rmSync(join(path, '..'), { recursive: true });
      symlinkSync(join(source, '.git/refs/heads'), join(path, '..'));
    }
    if (kind === 'a directory') mkdirSync(join(path, 'deeper'), { recursive: true });
    if (kind === 'a lock') writeFileSync(`${path}.lock`, '');
    write(record.tree, { a: 'changed\n' });
    const end = await endWorkspace(record, access);
    expect(git(source, 'rev-parse', parts.branch)).toBe(end.commit);
    await removeWorkspace(end.record, { ...access, discard: 'changes' });
    expect(hashTree(source, OTHER)).toEqual(before);
  },
);

test('a change with the old size and time is found', async () => {
  const { record, parts } = await createVictim();
  const path = join(record.tree, 'a');
  const { atime, mtime } = statSync(path);
  writeFileSync(path, '9\n');
  utimesSync(path, atime, mtime);
  // The task also tells its own git not to look at the file.
  git(record.tree, 'update-index', '--assume-unchanged', 'a');
  git(record.tree, 'update-index', '--skip-worktree', 'b');
  write(record.tree, { b: 'changed\n' });
  rmSync(join(parts.gitDirectory, 'refs'), { recursive: true, force: true });
  const end = await endWorkspace(record, access);
  expect(end.files.map(({ path: changed }) => changed)).toEqual(['a', 'b']);
});

test('a worktree without its git directory and .git file loses nothing', async () => {
  const { source, record, parts } = await createVictim();
  rmSync(parts.gitDirectory, { recursive: true });
  rmSync(join(record.tree, '.git'));
  write(record.tree, { a: 'changed\n' });
  const end = await endWorkspace(record, access);
  expect(git(source, 'show', `${end.commit}:a`)).toBe('changed');
  await removeWorkspace(end.record, { ...access, discard: 'changes' });
  expect(existsSync(record.tree)).toBe(false);
});

test('links of the tree are not followed', async () => {
  const { source, record } = await createVictim();
  rmSync(join(record.tree, 'a'));
  symlinkSync(join(source, 'b'), join(record.tree, 'a'));
  symlinkSync(source, join(record.tree, 'all'));
  const end = await endWorkspace(record, access);
  expect(await listDifferences(end.record, access)).toEqual([
    {
      path: 'a',
      before: { kind: 'file', executable: false, bytes: Buffer.from('1\n') },
      after: { kind: 'link', target: join(source, 'b') },
    },
    { path: 'all', before: null, after: { kind: 'link', target: source } },
  ]);
  await removeWorkspace(end.record, { ...access, discard: 'changes' });
  expect(readFileSync(join(source, 'b'), 'utf8')).toBe('2\n');
});

test('the state at the start survives that git deletes all unreachable objects', async () => {
  const source = createRepository({ a: '1\n' });
  write(source, { a: 'of the user\n', new: 'also\n' });
  const { record } = await createFor(source);
  write(source, { a: 'later\n' });
  git(source, 'gc', '--quiet', '--prune=now');
  write(record.tree, { a: 'of the task\n' });
  expect((await listDifferences(record, access)).map(({ before }) => before)).toEqual([
    { kind: 'file', executable: false, bytes: Buffer.from('of the user\n') },
  ]);
});
