import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Git as it is held while commands of a read-only agent run, and nothing of the machine's own settings. */
export function gitVariables(home: string): Readonly<Record<string, string>> {
  return {
    HOME: home,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    PAGER: 'cat',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'diff.autoRefreshIndex',
    GIT_CONFIG_VALUE_0: 'false',
    GIT_CONFIG_KEY_1: 'core.fsmonitor',
    GIT_CONFIG_VALUE_1: 'false',
  };
}

/** A small project with two commits, changes that are not committed, and a program that would tell if it ran. */
export function makeTree(directory: string, home: string): void {
  mkdirSync(join(directory, 'src', 'deep'), { recursive: true });
  mkdirSync(join(directory, 'test'));
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  const git = (...args: string[]): void => {
    const env = {
      ...gitVariables(home),
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b',
    };
    execFileSync('git', args, { cwd: directory, env, stdio: 'ignore' });
  };
  git('init', '-q', '-b', 'main');
  write('a.txt', 'one foo\ntwo\nthree\n');
  write('b.txt', 'two\nfour foo\n');
  write('with space.txt', 'x\n');
  write('package.json', '{}\n');
  write('src/main.ts', 'export function main() {\n  // foo\n}\n// end\n');
  write('src/deep/c.ts', 'foo\n');
  write('test/a.ts', 'foo bar\n');
  writeFileSync(join(directory, 'x.sh'), '#!/bin/sh\ntouch ran-by-somebody\n', { mode: 0o755 });
  git('add', '.');
  git('commit', '-qm', 'first');
  write('src/main.ts', 'export function main() {\n  // foo, changed\n}\n// end\n');
  git('commit', '-qam', 'second');
  git('tag', 'v1');
  write('a.txt', 'one foo\ntwo\nthree, changed\n');
  // Written again as it was: git would like to note that in its index.
  write('b.txt', 'two\nfour foo\n');
  write('new.txt', 'not tracked\n');
  symlinkSync('a.txt', join(directory, 'link'));
}

/** Names, modes and contents of all that lies in a directory. */
export function treeHash(directory: string): string {
  const hash = createHash('sha256');
  const visit = (path: string): void => {
    const stats = lstatSync(path);
    hash.update(`${path}\0${stats.mode}\0`);
    if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stats.isFile()) hash.update(readFileSync(path));
    else if (stats.isDirectory()) {
      for (const name of readdirSync(path).toSorted()) visit(join(path, name));
    }
  };
  visit(directory);
  return hash.digest('hex');
}
