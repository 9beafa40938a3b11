import { spawnSync } from 'node:child_process';
import { linkSync, symlinkSync, truncateSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PluginFileCollector } from '../../src/plugins/plugin-files.ts';
import { collectDirectory } from '../../src/plugins/read-directory.ts';
import { Machine } from './support.ts';

function collect(directory: string): PluginFileCollector {
  const files = new PluginFileCollector(directory);
  collectDirectory(directory, files);
  return files;
}

const read = (directory: string) =>
  collect(directory)
    .list()
    .map(({ path, bytes }) => [path, bytes.toString()]);

it('reads all files of a directory except those of git', () => {
  using machine = new Machine();
  const directory = machine.write('kit', {
    'b/c.md': 'C',
    '.claude-plugin/plugin.json': '{}',
    '.git/config': 'x',
    'a.md': 'A',
  });
  expect(read(directory)).toEqual([
    ['.claude-plugin/plugin.json', '{}'],
    ['a.md', 'A'],
    ['b/c.md', 'C'],
  ]);
});

it.each<readonly [string, (directory: string) => void, string]>([
  ['a pipe', (at) => void spawnSync('mkfifo', [join(at, 'x')]), 'x is not a file'],
  [
    'a large file',
    (at) => {
      writeFileSync(join(at, 'x'), '');
      truncateSync(join(at, 'x'), 11 * 1024 * 1024);
    },
    'x is larger than 10 MB',
  ],
  ['a git directory with another name', (at) => mkdirSync(join(at, '.GIT')), 'git directory'],
])('refuses a directory with %s', (_, spoil, reason) => {
  using machine = new Machine();
  const directory = machine.write('kit', { 'a.md': 'A' });
  spoil(directory);
  expect(() => read(directory)).toThrow(reason);
});

it('leaves links out, wherever they lead', () => {
  using machine = new Machine();
  const directory = machine.write('kit', { 'a.md': 'A' });
  for (const [name, target] of [
    ['file', '/etc/passwd'],
    ['directory', '/etc'],
    ['inside', 'a.md'],
    ['broken', 'none'],
  ] as const) {
    symlinkSync(target, join(directory, name));
  }
  const files = collect(directory);
  expect([files.list().map(({ path }) => path), files.leftOut.toSorted()]).toEqual([
    ['a.md'],
    ['broken', 'directory', 'file', 'inside'],
  ]);
});

it('copies the content of a file with other names', () => {
  using machine = new Machine();
  const directory = machine.write('kit', { 'a.md': 'A' });
  linkSync(join(directory, 'a.md'), join(directory, 'b.md'));
  expect(read(directory)).toEqual([
    ['a.md', 'A'],
    ['b.md', 'A'],
  ]);
});

it('refuses a directory that is not there', () => {
  using machine = new Machine();
  const missing = join(machine.root, 'none');
  expect(() => read(missing)).toThrow(`${missing} cannot be used as a plugin: it cannot be read: `);
});
