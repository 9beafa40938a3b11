import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KeychainError, type Keychain } from '../../src/keys/keychain.ts';
import { LoginStore } from '../../src/keys/login-store.ts';
import type { McpLogin } from '../../src/protocol/mcp-login.ts';

const SERVER = 'https://mcp.example/mcp';
const LOGIN: McpLogin = {
  server: SERVER,
  issuer: 'https://auth.example',
  clientId: 'me',
  clientSecret: 'client-secret',
  authMethod: 'client_secret_basic',
  tokenEndpoint: 'https://auth.example/token',
  revocationEndpoint: null,
  resource: SERVER,
  scope: 'read',
  accessToken: 'access-1',
  refreshToken: 'refresh-1',
  expiresAt: 1000,
};
const RENEWED: McpLogin = { ...LOGIN, accessToken: 'access-2', refreshToken: 'refresh-2' };
const NOTHING = { login: null, demand: null };

function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'muster-logins-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Creates a keychain in memory. */
function createMemoryKeychain(): Keychain & { readonly keys: Map<string, string> } {
  const keys = new Map<string, string>();
  return {
    keys,
    read: (...name) => Promise.resolve(keys.get(name.join('/')) ?? null),
    write: (provider, account, key) =>
      Promise.resolve(void keys.set(`${provider}/${account}`, key)),
    delete: (...name) => Promise.resolve(void keys.delete(name.join('/'))),
  };
}

const fail = (): never => {
  throw new KeychainError('mcp', 'x', 'it is locked');
};
const LOCKED: Keychain = {
  read: () => Promise.resolve().then(fail),
  write: () => Promise.resolve().then(fail),
  delete: () => Promise.resolve().then(fail),
};

test('a login in the file, which only the user can read', async () => {
  const directory = createDirectory();
  const store = new LoginStore(directory, LOCKED);
  expect(await store.read(SERVER)).toEqual(NOTHING);
  store.noteDemand(SERVER, { scope: 'read', resourceMetadataUrl: null });
  expect(store.list()).toEqual([{ server: SERVER, issuer: null, isDemanded: true }]);
  expect(await store.addTo('auto', LOGIN)).toBe('it is locked');
  expect(statSync(store.path).mode & 0o777).toBe(0o600);
  const other = new LoginStore(directory, LOCKED);
  expect(await other.read(SERVER)).toEqual({ login: LOGIN, demand: null });
  expect(other.list()).toEqual([
    { server: SERVER, issuer: 'https://auth.example', isDemanded: false },
  ]);
  expect(other.listSecrets()).toEqual(['access-1', 'refresh-1', 'client-secret']);
  // A demand for more rights keeps the tokens, and so does a renewal the demand.
  const demand = { scope: 'write', resourceMetadataUrl: null };
  store.noteDemand(SERVER, demand);
  await other.renew(RENEWED);
  expect(await store.read(SERVER)).toEqual({ login: RENEWED, demand });
  expect(await store.read(`${SERVER}/other`)).toEqual(NOTHING);
  await store.remove(SERVER);
  expect([store.list(), await store.read(SERVER)]).toEqual([[], NOTHING]);
});

test('a login in the keychain leaves no secret in the file', async () => {
  const keychain = createMemoryKeychain();
  const store = new LoginStore(createDirectory(), keychain);
  expect(await store.addTo('auto', LOGIN)).toBeNull();
  await store.renew(RENEWED);
  expect(readFileSync(store.path, 'utf8')).not.toMatch(/access-|refresh-|client-secret/);
  expect(store.listSecrets()).toEqual([]);
  expect(await store.read(SERVER)).toEqual({ login: RENEWED, demand: null });
  expect([...keychain.keys.keys()]).toEqual([
    expect.stringMatching(/^mcp\/mcp\.example\/[\da-f]{16}$/),
  ]);
  // A new login at another issuer, in the file, leaves nothing in the keychain.
  await store.addTo('file', { ...LOGIN, issuer: 'https://new.example' });
  expect(keychain.keys.size).toBe(0);
  await store.addTo('keychain', LOGIN);
  await store.remove(SERVER);
  expect(keychain.keys.size).toBe(0);
});

test('a renewal does not bring back a login that was removed or replaced', async () => {
  const store = new LoginStore(createDirectory(), LOCKED);
  await store.renew(RENEWED);
  expect(store.list()).toEqual([]);
  await store.addTo('file', { ...LOGIN, clientId: 'other' });
  await store.renew(RENEWED);
  expect(await store.read(SERVER)).toMatchObject({ login: { accessToken: 'access-1' } });
});

test('a keychain that cannot be used, and a damaged or open file, are errors that say what to do', async () => {
  const store = new LoginStore(createDirectory(), LOCKED);
  await expect(store.addTo('keychain', LOGIN)).rejects.toThrow(
    'the keychain cannot be used: it is locked. Unlock it, or log in with "muster mcp login NAME --store file"',
  );
  await store.addTo('file', LOGIN);
  chmodSync(store.path, 0o644);
  await expect(store.read(SERVER)).rejects.toThrow('others can use it');
  chmodSync(store.path, 0o600);
  writeFileSync(store.path, '{"version": 1, "servers": [{"server": 1}]}');
  await expect(store.read(SERVER)).rejects.toThrow('entry 1 is no login');
});

test('work under a lock runs one after the other, and an error frees the lock', async () => {
  const directory = createDirectory();
  const steps: string[] = [];
  const work = (name: string) => async () => {
    steps.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    steps.push(`${name} ends`);
  };
  const run = (name: string) => new LoginStore(directory, LOCKED).withLock(SERVER, work(name));
  await Promise.all([run('a'), run('b')]);
  expect(steps.map((step) => step.slice(2))).toEqual(['begins', 'ends', 'begins', 'ends']);
  const broken = new LoginStore(directory, LOCKED).withLock(SERVER, () =>
    Promise.reject(new Error('broken')),
  );
  await expect(broken).rejects.toThrow('broken');
  await run('c');
});
