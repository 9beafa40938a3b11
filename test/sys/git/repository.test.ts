import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readTrackedFiles } from '../../../src/sys/git/tracked-files.ts';
import { findRepository } from '../../../src/sys/git/repository.ts';
import { tempDirectory } from '../temp.ts';

const fifo = (path: string): void => void execFileSync('mkfifo', [path]);

it('a .git that is a pipe, a circular link or too long is not waited for, and is not a repository', () => {
  const top = tempDirectory();
  mkdirSync(join(top, 'piped'));
  fifo(join(top, 'piped/.git'));
  mkdirSync(join(top, 'looped'));
  symlinkSync('.git', join(top, 'looped/.git'));
  symlinkSync('b', join(top, 'a'));
  symlinkSync('a', join(top, 'b'));
  mkdirSync(join(top, 'long'));
  writeFileSync(join(top, 'long/.git'), `gitdir: ${'x/'.repeat(10_000)}`);
  for (const name of ['piped', 'looped', 'a', 'long']) {
    expect(findRepository(join(top, name))).toBeUndefined();
  }
});

it('nothing is known about a repository whose files are pipes', () => {
  const top = tempDirectory();
  mkdirSync(join(top, '.git'));
  fifo(join(top, '.git/commondir'));
  fifo(join(top, '.git/index'));
  const git = join(top, '.git');
  const repository = findRepository(top);
  expect(repository).toEqual({ top, gitDirectory: git, commonDirectory: git });
  expect(repository === undefined ? undefined : readTrackedFiles(repository)).toBeNull();
});
