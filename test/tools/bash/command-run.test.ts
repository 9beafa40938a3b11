import { mkdirSync, realpathSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import type { SandboxPort } from '../../../src/protocol/tool.ts';
import { makeWorkspace, tool } from '../workspace.ts';
import { resolveCommandDirectory } from '../../../src/tools/bash/command-run.ts';

/** A sandbox that cannot be set up the first times, because a file that it covers is gone. */
function failingSandbox(failures: number) {
  const made = { tried: 0, released: 0 };
  const port: SandboxPort = {
    confine: async (argv) => {
      made.tried += 1;
      const fails = made.tried <= failures;
      const script = fails ? "echo 'bwrap: gone' >&2; exit 1" : 'echo begun >&2; "$@"';
      return {
        file: '/bin/sh',
        args: ['-c', script, 'sh', ...argv],
        env: { PATH: '/usr/bin:/bin' },
        held: { access: 'workspace', network: false, monitored: true },
        maxProcesses: 0,
        settle: () => Promise.resolve({ removed: [], fromCommits: [] }),
        release: () => void (made.released += 1),
      };
    },
  };
  return { made, port };
}

it('starts a command again when its sandbox could not be set up', async () => {
  const { made, port } = failingSandbox(3);
  const output = await makeWorkspace().call('Bash', { command: 'echo hi' }, { sandbox: port });
  expect(output.text).toBe('hi\n[exit code 0]');
  expect(made).toEqual({ tried: 4, released: 4 });
});

it('gives the reason when the sandbox can never be set up', async () => {
  const { made, port } = failingSandbox(99);
  const output = await makeWorkspace().call('Bash', { command: 'echo hi' }, { sandbox: port });
  expect(output).toMatchObject({ error: 'INTERNAL_ERROR' });
  expect(output.text).toContain('bwrap: gone');
  expect(made).toEqual({ tried: 4, released: 4 });
});

it('does not start a command again after it was cancelled', async () => {
  const { made, port } = failingSandbox(99);
  const controller = new AbortController();
  const sandbox: SandboxPort = {
    confine: async (argv, options) => {
      controller.abort();
      return await port.confine(argv, options);
    },
  };
  const { signal } = controller;
  await makeWorkspace().call('Bash', { command: 'echo hi' }, { sandbox, signal });
  expect(made).toEqual({ tried: 1, released: 1 });
});

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
