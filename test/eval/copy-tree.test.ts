import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  copyAgentTree,
  overlay,
  restoreProtected,
  removeTree,
  UnusableTreeError,
} from '../../eval/copy-tree.ts';

import { asNormalUser } from '../sys/normal-user.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'muster-copy-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function write(directory: string, files: Readonly<Record<string, string>>): string {
  for (const [path, content] of Object.entries(files)) {
    const file = join(place, directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return join(place, directory);
}

function read(directory: string): Readonly<Record<string, string>> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    entries
      .toSorted()
      .map((file) => [file.slice(directory.length + 1), readFileSync(file, 'utf8')]),
  );
}

it('copies regular files, without git, links, and what the original .gitignore names', () => {
  const original = write('original', { '.gitignore': 'build/\n*.pyc\n' });
  const tree = write('tree', {
    '.gitignore': '',
    '.git/hooks/post-checkout': 'evil',
    'build/out.o': 'x',
    'src/a.c': 'a',
    'src/a.pyc': 'x',
    'src/build.c': 'b',
    'tool.sh': 'run',
  });
  symlinkSync('/etc/passwd', join(tree, 'link'));
  symlinkSync('/etc', join(tree, 'directory'));
  chmodSync(join(tree, 'tool.sh'), 0o4711);
  const copy = join(place, 'copy');
  copyAgentTree(tree, copy, { original });
  expect(read(copy)).toEqual({
    '.gitignore': '',
    'src/a.c': 'a',
    'src/build.c': 'b',
    'tool.sh': 'run',
  });
  expect(readdirSync(copy).toSorted()).toEqual(['.gitignore', 'src', 'tool.sh']);
  expect(statSync(join(copy, 'tool.sh')).mode & 0o7777).toBe(0o755);
});

it('refuses a tree that is too large', () => {
  const tree = write('tree', { 'big.bin': '' });
  truncateSync(join(tree, 'big.bin'), 300_000_000);
  expect(() => copyAgentTree(tree, join(place, 'copy'), { original: tree })).toThrow(
    UnusableTreeError,
  );
  expect(existsSync(join(place, 'copy', 'big.bin'))).toBe(false);
});

it('refuses a tree with files that cannot be copied', () => {
  const tree = write('tree', { 'src/x': 'x' });
  const script =
    'name=$(printf %0200d 0); for i in $(seq 30); do mkdir "$name" && cd "$name"; done';
  execFileSync('/bin/bash', ['--norc', '-c', script], { cwd: tree });
  expect(() => copyAgentTree(tree, join(place, 'copy'), { original: tree })).toThrow(
    /^what the agent left cannot be copied: ENAMETOOLONG/,
  );
});

it('counts directories as files', () => {
  const tree = write('tree', { 'a/b/x': 'x', 'c/y': 'y' });
  const copyAtMost = (maxFiles: number) => () => {
    copyAgentTree(tree, join(place, String(maxFiles)), { original: tree, maxFiles });
  };
  expect(copyAtMost(5)).toThrow(
    'the agent left more than 5 files and directories or 200000000 bytes',
  );
  expect(copyAtMost(6)).not.toThrow();
});

it('removes directories whose rights an agent has taken away', async () => {
  chmodSync(place, 0o777);
  await asNormalUser(async () => {
    const tree = join(place, 'tree');
    mkdirSync(join(tree, 'closed', 'deep'), { recursive: true });
    writeFileSync(join(tree, 'closed', 'file'), 'x');
    for (const path of ['closed/deep', 'closed']) chmodSync(join(tree, path), 0);
    symlinkSync('/etc', join(tree, 'link'));
    await Promise.resolve();
    expect(() => copyAgentTree(tree, join(place, 'copy'), { original: tree })).toThrow(
      UnusableTreeError,
    );
    removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });
  expect(existsSync('/etc/passwd')).toBe(true);
});

it('restores protected files, and removes what was added to protected directories', () => {
  const original = write('original', { 'tests/a.test': 'a', 'lib/deep/b.test': 'b', 'src/x': 'x' });
  const tree = write('tree', {
    'tests/a.test': 'changed',
    'tests/added.test': 'passes',
    lib: 'a file in place of the directory',
    'src/x': 'y',
    'absent.cfg': 'added',
  });
  restoreProtected(tree, original, ['tests', 'lib/deep/b.test', 'absent.cfg']);
  expect(read(tree)).toEqual({ 'lib/deep/b.test': 'b', 'src/x': 'y', 'tests/a.test': 'a' });
});

it('lays files over whatever stands in their way', () => {
  const tree = write('tree', { hidden: 'a file', 'check.sh/evil': 'x', 'src/x': 'x' });
  const files = write('files', { 'hidden/a.test': 'a', 'check.sh': 'check', 'src/y': 'y' });
  symlinkSync('/etc', join(tree, 'etc'));
  write('files', { 'etc/passwd': 'ours' });
  overlay(tree, files);
  expect(read(tree)).toEqual({
    'check.sh': 'check',
    'etc/passwd': 'ours',
    'hidden/a.test': 'a',
    'src/x': 'x',
    'src/y': 'y',
  });
});
