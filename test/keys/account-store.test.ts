import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccountStore } from '../../src/keys/account-store.ts';

let directory: string;
beforeEach(() => {
  directory = join(realpathSync(mkdtempSync(join(tmpdir(), 'muster-accounts-'))), 'state');
});
afterEach(() => rmSync(join(directory, '..'), { recursive: true, force: true }));

const NOW = new Date('2026-11-27T01:02:03.000Z');
const ADDED = { addedOn: '2026-11-27T01:02:03.000Z' };
const WORK = {
  provider: 'openrouter',
  account: 'work',
  key: 'sk-work',
  origin: 'https://gate.corp.example',
};
const HOME = { provider: 'openrouter', account: 'default', key: null };
const GATEWAY = {
  provider: 'corp',
  account: 'default',
  key: 'sk-corp',
  baseUrl: 'https://llm.corp.example/v1',
};

describe('the account store', () => {
  it('has no accounts and no file before the first one is added', () => {
    expect(new AccountStore(directory).all()).toEqual([]);
    expect(() => statSync(directory)).toThrow('ENOENT');
  });

  it('keeps accounts in a file that only the user can read, whatever the umask', () => {
    const before = process.umask(0);
    try {
      const store = new AccountStore(directory);
      for (const account of [WORK, HOME, GATEWAY]) store.add(account, NOW);
      expect(new AccountStore(directory).all()).toEqual([
        { ...WORK, ...ADDED },
        { ...HOME, ...ADDED },
        { ...GATEWAY, ...ADDED },
      ]);
      expect(statSync(store.path).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(before);
    }
  });

  it('replaces the account of the same provider and name', () => {
    const store = new AccountStore(directory);
    for (const account of [WORK, GATEWAY, { ...WORK, key: 'sk-new' }]) store.add(account, NOW);
    expect(store.all()).toEqual([
      { ...GATEWAY, ...ADDED },
      { ...WORK, key: 'sk-new', ...ADDED },
    ]);
    expect(readFileSync(store.path, 'utf8')).not.toContain('sk-work');
  });

  it('removes one account', () => {
    const store = new AccountStore(directory);
    for (const account of [WORK, HOME]) store.add(account, NOW);
    store.remove(WORK);
    store.remove({ provider: 'openrouter', account: 'nobody' });
    expect(store.all()).toEqual([{ ...HOME, ...ADDED }]);
    expect(readFileSync(store.path, 'utf8')).not.toContain('sk-work');
  });

  it('loses nothing when two processes change it at once', async () => {
    const module = resolve(import.meta.dirname, '../../src/keys/account-store.ts');
    const program = `
      const { AccountStore } = await import(${JSON.stringify(module)});
      const store = new AccountStore(process.argv[1]);
      for (let n = 0; n < 5; n += 1) {
        store.add({ provider: 'p', account: process.argv[2] + n, key: 'k' }, new Date());
        store.add({ provider: 'p', account: 'gone', key: 'k' }, new Date());
        store.remove({ provider: 'p', account: 'gone' });
      }`;
    const children = ['a', 'b'].map((name) =>
      spawn(process.execPath, ['--input-type=module', '-e', program, directory, name], {
        stdio: ['ignore', 'inherit', 'inherit'],
      }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0]);
    const names = new AccountStore(directory).all().map(({ account }) => account);
    expect(names.toSorted()).toEqual(
      ['a', 'b'].flatMap((name) => [0, 1, 2, 3, 4].map((n) => name + n)),
    );
  });

  it.each([
    ['no JSON', 'sk-secret'],
    ['cut short', '{"version": 1, "accounts": [{"provider": "p"'],
    ['of another version', '{"version": 2, "accounts": []}'],
    ['without a list', '{"version": 1}'],
    ['with an entry without a key', '{"version": 1, "accounts": [{"provider": "p"}]}'],
    [
      'with a base URL that is no text',
      JSON.stringify({ version: 1, accounts: [{ ...GATEWAY, ...ADDED, baseUrl: 1 }] }),
    ],
    [
      'with an origin that is no text',
      JSON.stringify({ version: 1, accounts: [{ ...WORK, ...ADDED, origin: null }] }),
    ],
  ])('does not use or change a file that is %s, and never shows its content', (_, text) => {
    mkdirSync(directory, { mode: 0o700 });
    const store = new AccountStore(directory);
    writeFileSync(store.path, text, { mode: 0o600 });
    const message = /credentials\.json is damaged .*move it away, then sign in again/;
    expect(() => store.all()).toThrow(message);
    expect(() => store.add(WORK, NOW)).toThrow(message);
    expect(() => store.remove(WORK)).toThrow(message);
    expect(() => store.all()).not.toThrow('sk-');
    expect(readFileSync(store.path, 'utf8')).toBe(text);
  });

  it('is not used if others can read its file, and says how to repair that', () => {
    const store = new AccountStore(directory);
    store.add(WORK, NOW);
    chmodSync(store.path, 0o644);
    const message = `${store.path} cannot be used: it holds keys, and others can use it (mode 644). Run: chmod 600 '${store.path}'.`;
    expect(() => store.all()).toThrow(message);
    expect(() => store.add(HOME, NOW)).toThrow(message);
  });

  it('says that its file cannot be written', () => {
    const store = new AccountStore('/proc/muster');
    expect(store.all()).toEqual([]);
    expect(() => store.add(WORK, NOW)).toThrow(/cannot create directory .*\/proc\/muster/);
  });
});
