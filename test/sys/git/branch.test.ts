import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readBranch } from '../../../src/sys/git/branch.ts';

let directory = '';
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'branch-')));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function writeHead(gitDirectory: string, head: string | Buffer): void {
  mkdirSync(gitDirectory, { recursive: true });
  writeFileSync(join(gitDirectory, 'HEAD'), head);
}

it.each([
  ['a branch', 'ref: refs/heads/main\n', 'main'],
  ['a branch with slashes', 'ref: refs/heads/fix/it\n', 'fix/it'],
  ['a detached HEAD', `${'0123456789'.repeat(4)}\n`, '0123456'],
  ['a commit by SHA-256', `${'ab'.repeat(32)}\n`, 'abababa'],
  ['references in another format', 'ref: refs/heads/.invalid\n', null],
  ['another reference', 'ref: refs/bisect/bad\n', null],
  ['several lines', 'ref: refs/heads/main\nref: refs/heads/other\n', null],
  ['an empty file', '', null],
  ['bytes that are no text', Buffer.from([0, 255, 254]), null],
  ['a file that is too large', `ref: refs/heads/${'x'.repeat(100_000)}\n`, null],
])('reads %s', (_name, head, branch) => {
  writeHead(join(directory, '.git'), head);
  expect(readBranch(directory)).toBe(branch);
});

it('cuts a long name', () => {
  writeHead(join(directory, '.git'), `ref: refs/heads/${'x'.repeat(5_000)}\n`);
  expect(readBranch(directory)).toBe('x'.repeat(200));
});

it('reads the branch of a linked working tree from a directory below it', () => {
  const linked = join(directory, 'linked');
  const below = join(linked, 'src');
  mkdirSync(below, { recursive: true });
  writeHead(join(directory, '.git'), 'ref: refs/heads/main\n');
  writeHead(join(directory, '.git/worktrees/linked'), 'ref: refs/heads/side\n');
  writeFileSync(join(linked, '.git'), `gitdir: ${directory}/.git/worktrees/linked\n`);
  expect([readBranch(below), readBranch(directory)]).toEqual(['side', 'main']);
});

it('reads a repository without a HEAD, and a directory outside of one, as no branch', () => {
  mkdirSync(join(directory, '.git'));
  expect(readBranch(directory)).toBe(null);
  writeFileSync(join(directory, 'file'), 'gitdir: /proc/self/fd/0');
  expect(readBranch('/')).toBe(null);
});
