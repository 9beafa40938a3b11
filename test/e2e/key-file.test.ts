import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startKeyServer } from './key-server.ts';
import { runMuster, Sandbox, type RunOptions } from './muster.ts';

const KEY = 'sk-of-the-user-0123456789';

async function openWorld() {
  const server = await startKeyServer({ keys: new Set([KEY]) });
  const sandbox = new Sandbox();
  const run = (args: readonly string[], options: RunOptions = {}) =>
    runMuster(sandbox, args, options);
  return {
    server,
    sandbox,
    file: join(sandbox.data, 'credentials.json'),
    run,
    login: (key: string, ...flags: readonly string[]) =>
      run(['login', 'corp', '--base-url', server.url, ...flags], { stdin: key }),
    async [Symbol.asyncDispose]() {
      sandbox[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function namesIn(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => name.startsWith('credentials.json'));
}

it.each<[title: string, make: (path: string) => void, problem: string]>([
  ['a link', (path) => symlinkSync('/etc/hostname', path), 'it is a link'],
  ['a directory', (path) => mkdirSync(path), 'it is not a regular file, but a directory'],
])('no key is sent if the file of accounts is %s', async (_, make, problem) => {
  await using world = await openWorld();
  const { file, server, sandbox } = world;
  mkdirSync(sandbox.data, { mode: 0o700 });
  make(file);
  const { code, stderr } = await world.login(KEY);
  expect([code, stderr]).toEqual([
    1,
    `muster: PERMISSION_DENIED: ${file} cannot be used: ${problem}. Move it away, then sign in again with "muster login"\n`,
  ]);
  expect(server.seen).toEqual([]);
});

it('the draft of a sign-in that was killed goes with the next sign-in, or with all accounts', async () => {
  await using world = await openWorld();
  const { file, sandbox, run } = world;
  mkdirSync(sandbox.data, { mode: 0o700 });
  const leave = () => writeFileSync(`${file}.01KB2V3W4X.new`, KEY, { mode: 0o600 });
  leave();
  expect((await world.login(KEY)).code).toBe(0);
  expect(namesIn(sandbox.data)).toEqual(['credentials.json']);
  leave();
  expect((await run(['logout', '--all'])).code).toBe(0);
  expect(namesIn(sandbox.data)).toEqual(['credentials.json']);
  expect(readFileSync(file, 'utf8')).not.toContain(KEY);
  rmSync(file);
  leave();
  expect((await run(['logout', '--all'])).stdout).toBe('No account is stored.\n');
  expect(namesIn(sandbox.data)).toEqual([]);
});

it('a text that is longer than a key is not stored', async () => {
  await using world = await openWorld();
  const { code, stderr } = await world.login('k'.repeat(9_000_000), '--no-check');
  expect([code, stderr]).toEqual([
    2,
    'muster: the text is longer than a key may be (65536 bytes)\n',
  ]);
});

it('a provider without an account is an error, also with --all', async () => {
  await using world = await openWorld();
  await world.login(KEY, '--no-check');
  const { code, stderr } = await world.run(['logout', 'nosuch', '--all']);
  expect([code, stderr]).toEqual([
    2,
    'muster: there is no such account; signed in: corp --account default\n',
  ]);
});
