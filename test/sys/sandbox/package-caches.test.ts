import { existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  locateCaches,
  usesPackageCaches,
  type CacheSettings,
} from '../../../src/sys/sandbox/package-caches.ts';
import { HAS_BUBBLEWRAP, Place, runIn } from './support.ts';

function settings(at: Place, kind: CacheSettings['kind'] = 'private'): CacheSettings {
  return {
    kind,
    directory: join(at.home, '.cache/muster/commands'),
    home: at.home,
    environment: {},
  };
}

const USE = { mayWrite: true, network: true, makes: true, isFresh: false };

test('private caches are in a directory of the user alone, which is created', () => {
  const at = new Place();
  const { variables, writable } = locateCaches(settings(at), USE);
  const { directory } = settings(at);
  expect(writable).toEqual([directory]);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(variables('/tmp')).toMatchObject({
    npm_config_cache: join(directory, 'npm'),
    PIP_CACHE_DIR: join(directory, 'pip'),
    CARGO_HOME: join(directory, 'cargo'),
    GOMODCACHE: join(directory, 'go-mod'),
  });
});

test('private caches are created for a command that names a program with a cache', () => {
  const at = new Place();
  expect(locateCaches(settings(at), { ...USE, makes: false }).writable).toEqual([]);
  expect(existsSync(join(at.home, '.cache'))).toBe(false);
  expect(usesPackageCaches(['/bin/bash', '-c', 'cd x && npm ci'])).toBe(true);
  expect(usesPackageCaches(['/bin/bash', '-c', 'ls && echo google'])).toBe(false);
  locateCaches(settings(at), USE);
  const { directory } = settings(at);
  expect(locateCaches(settings(at), { ...USE, makes: false }).writable).toEqual([directory]);
});

test('without a network the packages of the user are used', () => {
  const at = new Place();
  mkdirSync(join(at.home, '.cargo'));
  const { directory } = settings(at);
  const offline = { ...USE, network: false };
  const { variables } = locateCaches(settings(at), offline);
  expect(variables('/tmp')['CARGO_HOME']).toBeUndefined();
  expect(variables('/tmp')['GOMODCACHE']).toBe(join(directory, 'go-mod'));
  // Once there are private ones, these have what was downloaded last.
  mkdirSync(join(directory, 'cargo'));
  expect(locateCaches(settings(at), offline).variables('/tmp')['CARGO_HOME']).toBe(
    join(directory, 'cargo'),
  );
});

test.each([
  ['if nothing may be written', { ...USE, mayWrite: false }],
  ['if their directory is a link', USE],
])('caches are in the temporary directory %s', (_, use) => {
  const at = new Place();
  if (use.mayWrite) {
    mkdirSync(join(at.home, '.cache/muster'), { recursive: true });
    symlinkSync(at.directory('other'), settings(at).directory);
  }
  const { variables, writable } = locateCaches(settings(at), use);
  expect(writable).toEqual([]);
  expect(variables('/tmp')).toMatchObject({ npm_config_cache: '/tmp/.cache/npm' });
  expect(existsSync(join(settings(at).directory, 'npm'))).toBe(false);
});

test('shared caches are those of the user, if they exist', () => {
  const at = new Place();
  const npm = at.directory('home/.npm');
  const pip = at.directory('pip');
  const own = { ...settings(at, 'shared'), environment: { PIP_CACHE_DIR: pip } };
  const { variables, writable } = locateCaches(own, USE);
  expect(writable).toEqual([npm, pip]);
  expect(variables('/tmp')).toMatchObject({
    npm_config_cache: npm,
    PIP_CACHE_DIR: pip,
    UV_CACHE_DIR: join(at.home, '.cache/uv'),
  });
});

test.runIf(HAS_BUBBLEWRAP)(
  'a command writes to its caches, and to nothing next to them',
  async () => {
    const at = new Place();
    const sandbox = at.sandbox({ caches: settings(at) });
    const command = `mkdir -p "$npm_config_cache" && echo x > "$npm_config_cache/made" && echo $npm_config_cache
    # npm would do this
    { echo x > "$npm_config_cache/../../beside"; } 2>/dev/null && echo beside; true`;
    const ran = await runIn(sandbox, command, { roots: [at.root] });
    expect(ran.out).toBe(`${settings(at).directory}/npm\n`);
    expect(existsSync(join(settings(at).directory, 'npm/made'))).toBe(true);
    const held = await runIn(sandbox, 'echo $npm_config_cache', {
      roots: [at.root],
      access: 'read-only',
    });
    expect(held.out).toBe('/tmp/.cache/npm\n');
  },
);
