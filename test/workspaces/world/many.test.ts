import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import { listDifferences } from '../../../src/workspaces/list-differences.ts';
import { listWorkspaces } from '../../../src/workspaces/record.ts';
import { removeWorkspace } from '../../../src/workspaces/remove.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { access, createFor, createRepository, git, hashTree, write } from '../repository.ts';

test('sixteen workspaces of one repository at the same time', async () => {
  const source = createRepository({ a: '1\n', b: '2\n' });
  write(source, { b: 'uncommitted\n' });
  const before = hashTree(source, /^\.git\/objects/);
  const dataDir = tempDirectory();
  const created = await Promise.all(
    Array.from({ length: 16 }, () => createFor(source, { dataDir })),
  );
  expect(listWorkspaces(dataDir)).toEqual(
    created.map(({ record }) => record).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
  for (const { record } of created) write(record.tree, { a: record.id });
  const ends = await Promise.all(created.map(({ record }) => endWorkspace(record, access)));
  expect(ends.map(({ files }) => files.map(({ path }) => path))).toEqual(ends.map(() => ['a']));
  await Promise.all(
    ends.map(({ record }) => removeWorkspace(record, { ...access, discard: 'changes' })),
  );
  expect(hashTree(source, /^\.git\/objects/)).toEqual(before);
});

test('a repository with 50,000 files', async () => {
  const source = createRepository({ '.gitignore': 'ignored/\n' });
  for (let directory = 0; directory < 500; directory += 1) {
    const path = join(source, `directory-${directory}`);
    mkdirSync(path);
    for (let file = 0; file < 100; file += 1)
      writeFileSync(join(path, `file-${file}`), `${file}\n`);
  }
  git(source, 'add', '--all');
  git(source, 'commit', '--quiet', '--message=many files');
  const before = hashTree(source, /^\.git\/objects/);
  const { record } = await createFor(source);
  expect(git(record.tree, 'status', '--porcelain')).toBe('');
  write(record.tree, { 'directory-7/file-7': 'changed\n', new: 'new\n' });
  const end = await endWorkspace(record, access);
  expect(end.files.map(({ path }) => path)).toEqual(['directory-7/file-7', 'new']);
  expect((await listDifferences(end.record, access)).map(({ path }) => path)).toEqual([
    'directory-7/file-7',
    'new',
  ]);
  await removeWorkspace(end.record, { ...access, discard: 'changes' });
  expect(hashTree(source, /^\.git\/objects/)).toEqual(before);
});
