import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTrackedFiles } from '../../../src/sys/git/tracked-files.ts';
import { findRepository, type Repository } from '../../../src/sys/git/repository.ts';
import { tempDirectory } from '../temp.ts';

const NAMES = ['a', 'deep/er/b', 'deep/er/bc', 'é', `${'long/'.repeat(40)}x`];

function git(cwd: string, ...args: readonly string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  execFileSync('git', [...identity, ...args], { cwd, stdio: 'ignore' });
}

function repository(): string {
  const top = realpathSync(tempDirectory());
  git(top, 'init', '-q');
  for (const name of NAMES) {
    mkdirSync(join(top, name, '..'), { recursive: true });
    writeFileSync(join(top, name), 'x');
  }
  git(top, 'add', '.');
  return top;
}

function found(directory: string): Repository {
  const repo = findRepository(directory);
  if (repo === undefined) throw new Error(`no repository at ${directory}`);
  return repo;
}

test.each(['2', '4'])('the names in an index of version %s', (version) => {
  const top = repository();
  git(top, 'update-index', '--index-version', version);
  const tracked = readTrackedFiles(found(join(top, 'deep')));
  expect(tracked?.names.toSorted()).toEqual(NAMES.toSorted());
  expect(tracked?.hasSubmodules).toBe(false);
});

test('an index with the additional flags of version 3 is read', () => {
  const top = repository();
  writeFileSync(join(top, 'later'), 'x');
  git(top, 'add', '-N', 'later');
  expect(readTrackedFiles(found(top))?.names).toContain('later');
  expect(readTrackedFiles(found(top))?.names).toHaveLength(NAMES.length + 1);
});

test('an index that cannot be read gives null: a split one, a cut one, another format', () => {
  const top = repository();
  const index = join(top, '.git', 'index');
  for (const bytes of [Buffer.from('DIRC'), Buffer.from('nonsense, and more of it')]) {
    writeFileSync(index, bytes);
    expect(readTrackedFiles(found(top))).toBeNull();
  }
  const other = repository();
  git(other, 'update-index', '--split-index');
  expect(readTrackedFiles(found(other))).toBeNull();
});

test('a new repository tracks nothing, and a linked working tree has its own index', () => {
  const top = realpathSync(tempDirectory());
  git(top, 'init', '-q');
  expect(readTrackedFiles(found(top))).toEqual({ names: [], hasSubmodules: false });
  const main = repository();
  git(main, 'commit', '-qm', 'x');
  const linked = join(realpathSync(tempDirectory()), 'linked');
  git(main, 'worktree', 'add', '-q', linked);
  writeFileSync(join(linked, 'more'), 'x');
  git(linked, 'add', '.');
  const repo = found(linked);
  expect([repo.top, repo.commonDirectory]).toEqual([linked, join(main, '.git')]);
  expect(readTrackedFiles(repo)?.names).toContain('more');
});
