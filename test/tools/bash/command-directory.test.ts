import { mkdirSync, realpathSync } from 'node:fs';
import { expect, test } from 'vitest';
import { resolveCommandDirectory } from '../../../src/tools/bash/command-run.ts';
import { makeWorkspace, tool } from '../workspace.ts';

test.each([
  ['ls', undefined, 'ls', '/w'],
  ['ls', '.', 'ls', '/w'],
  ['ls', '/w/', 'ls', '/w'],
  ['ls -la', 'src', 'cd src && ls -la', '/w/src'],
  ['a && b > c 2>&1', 'src', 'cd src && a && b > c 2>&1', '/w/src'],
  ['a | b', '/etc', 'cd /etc && a | b', '/etc'],
  ['a; b', 'src', 'cd src && {\na; b\n}', '/w/src'],
  ['a || b', 'src', 'cd src && {\na || b\n}', '/w/src'],
  ['a & b', 'src', 'cd src && {\na & b\n}', '/w/src'],
  ['a\nb', 'src', 'cd src && {\na\nb\n}', '/w/src'],
  ['ls', 'a b/$c', "cd 'a b/$c' && ls", '/w/a b/$c'],
  ['ls', "it's", String.raw`cd 'it'\''s' && ls`, "/w/it's"],
  ['ls', '-x', 'cd ./-x && ls', '/w/-x'],
  ['ls', 'a\nb', "cd '/w/a\nb' && ls", '/w/a\nb'],
  ['ls', '..', 'cd / && ls', '/'],
])('%j in %j becomes the line %j', (command, workdir, line, directory) => {
  expect(resolveCommandDirectory(command, workdir, '/w')).toEqual({ command, line, directory });
});

test('policy gets the directory as a path that is read and as part of the command', () => {
  const describe = (input: object) => tool('Bash').describe?.(input, { cwd: '/w' });
  expect(describe({ command: 'make', workdir: 'sub' })).toEqual({
    reads: ['/w/sub'],
    writes: [],
    commands: ['cd sub && make'],
    hosts: [],
  });
  expect(describe({ command: 'make', workdir: '/w' })).toEqual(describe({ command: 'make' }));
});

test('the command runs in the directory, and its record names it', async () => {
  const at = makeWorkspace();
  mkdirSync(at.path('sub dir'));
  const command = 'pwd; cd ..; pwd';
  expect(await at.call('Bash', { command, workdir: 'sub dir' })).toEqual({
    text: `${realpathSync(at.path('sub dir'))}\n${at.root}\n[exit code 0]`,
    facts: { commands: [{ command: `cd 'sub dir' && {\n${command}\n}`, exitCode: 0 }] },
  });
});

test.each([
  ['..', 'PERMISSION_DENIED', /is outside the workspace/],
  ['gone', 'NOT_FOUND', /gone does not exist/],
  ['file.txt', 'INVALID_PARAM', /file\.txt is a file, not a directory/],
  ['a\0b', 'INVALID_PARAM', /contains a NUL character/],
])('no command runs in %j', async (workdir, error, text) => {
  const at = makeWorkspace();
  at.write('file.txt', '');
  const result = await at.call('Bash', { command: 'touch here', workdir });
  expect(result).toMatchObject({ error, text: expect.stringMatching(text) });
});
