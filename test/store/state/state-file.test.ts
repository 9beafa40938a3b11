import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StateFile } from '../../../src/store/state/state-file.ts';
import { StateList } from '../../../src/store/state/state-list.ts';
import { TRUSTED_FILES, type TrustEntry } from '../../../src/trust/trust-store.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-state-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function entry(path: string, sha256 = 'a'.repeat(64)): TrustEntry {
  return { kind: 'agent', path, sha256, project: '/p', trustedOn: '2026-01-02T03:04:05.678Z' };
}

function modes(path: string): number {
  return statSync(path).mode & 0o777;
}

describe('a state file', () => {
  it('is accessible to the user only, whatever the umask, and replaced completely', () => {
    const before = process.umask(0);
    try {
      const directory = join(root, 'a', 'state');
      const file = new StateFile(directory, 'x.json', 'start again');
      expect(file.read()).toBeUndefined();
      expect(existsSync(directory)).toBe(false);
      file.update((text) => `${text ?? ''}1`);
      const inode = statSync(file.path).ino;
      file.update((text) => `${text ?? ''}2`);
      expect(file.read()).toBe('12');
      expect([modes(directory), modes(file.path)]).toEqual([0o700, 0o600]);
      expect(statSync(file.path).ino).not.toBe(inode);
      expect(readdirSync(directory).filter((name) => name.startsWith('x.json'))).toEqual([
        'x.json',
      ]);
    } finally {
      process.umask(before);
    }
  });

  it('is left as it was when a change fails', () => {
    const file = new StateFile(join(root, 'state'), 'x.json', 'start again');
    file.update(() => 'old');
    expect(() =>
      file.update(() => {
        throw new Error('no');
      }),
    ).toThrow('no');
    file.update((text) => `${text ?? ''}!`);
    expect(file.read()).toBe('old!');
  });

  it('is never larger than what can be read', () => {
    const file = new StateFile(join(root, 'state'), 'x.json', 'start again');
    file.update(() => 'old');
    const largest = 'x'.repeat(16 * 1024 * 1024);
    expect(() => file.update(() => `${largest}y`)).toThrow(
      'x.json was not changed: it would be larger than 16777216 bytes',
    );
    expect(file.read()).toBe('old');
    file.update(() => largest);
    expect(file.read()).toBe(largest);
  });

  it('takes the drafts of processes that have ended with it, and no other file', () => {
    const directory = join(root, 'state');
    const file = new StateFile(directory, 'x.json', 'start again');
    file.removeDrafts();
    expect(existsSync(directory)).toBe(false);
    file.update(() => 'old');
    const others = ['x.json.old', 'y.json.abc.new', 'x.jsonb.new'];
    const names = () => readdirSync(directory).filter((name) => /^[xy]/.test(name));
    const leave = (...left: readonly string[]) => {
      for (const name of left) writeFileSync(join(directory, name), 'key');
    };
    leave('x.json.abc.new', ...others);
    file.update(() => 'new');
    expect(names().toSorted()).toEqual([...others, 'x.json'].toSorted());
    leave('x.json.abc.new', 'x.json.def.new');
    file.removeDrafts();
    expect(names().toSorted()).toEqual([...others, 'x.json'].toSorted());
    expect(file.read()).toBe('new');
  });

  it.each([
    ['writable by others', (path: string) => chmodSync(path, 0o666), /others can write to it/],
    [
      'a link',
      (path: string) => {
        rmSync(path);
        symlinkSync('/etc/hostname', path);
      },
      /x\.json cannot be used: it is a link\. Move it away, then start again$/,
    ],
    [
      'a pipe',
      (path: string) => {
        rmSync(path);
        execFileSync('mkfifo', [path]);
      },
      /it is not a regular file, but a FIFO \(named pipe\)\. Move it away, then start again$/,
    ],
    [
      'a directory',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
      /it is not a regular file, but a directory\. Move it away, then start again$/,
    ],
    ['huge', (path: string) => truncateSync(path, 1_000_000_000), /larger than/],
  ])('is not read if it is %s', (_, spoil, message) => {
    const file = new StateFile(join(root, 'state'), 'x.json', 'start again');
    file.update(() => 'old');
    spoil(file.path);
    expect(() => file.read()).toThrow(message);
  });

  it('that holds keys is not read if others can read it, and says how to repair that', () => {
    const directory = join(root, "it's state");
    const file = new StateFile(directory, 'x.json', 'sign in again', { isSecret: true });
    file.update(() => 'key');
    for (const mode of [0o640, 0o604, 0o610, 0o666]) {
      chmodSync(file.path, mode);
      const expected = `it holds keys, and others can use it (mode ${mode.toString(8)}). Run: chmod 600 `;
      expect(() => file.read()).toThrow(expected);
      expect(() => file.update(() => 'other')).toThrow(expected);
    }
    const repair = `chmod 600 '${directory.replace("'", "'\\''")}/x.json'`;
    expect(() => file.read()).toThrow(repair);
    execFileSync('/bin/sh', ['-c', repair]);
    expect(file.read()).toBe('key');
  });

  it('is not read from a directory that others can write to', () => {
    const file = new StateFile(join(root, 'state'), 'x.json', 'start again');
    file.update(() => 'old');
    chmodSync(join(root, 'state'), 0o777);
    expect(() => file.read()).toThrow(/others can write to the data directory/);
    expect(() => file.update(() => 'new')).toThrow(/others can write/);
  });

  // Only root can give files away.
  it.runIf(process.getuid?.() === 0)('is not read if it belongs to another user', () => {
    const file = new StateFile(join(root, 'state'), 'x.json', 'start again');
    file.update(() => 'old');
    chownSync(file.path, 65_534, 65_534);
    expect(() => file.read()).toThrow(/belongs to user 65534, not to you/);
    chownSync(file.path, 0, 0);
    chownSync(join(root, 'state'), 65_534, 65_534);
    expect(() => file.read()).toThrow(/belongs to user 65534, not to you/);
  });

  it('loses nothing when several processes change it at once', async () => {
    const source = resolve(import.meta.dirname, '../../../src');
    const program = `
      const { StateList } = await import(${JSON.stringify(join(source, 'store/state/state-list.ts'))});
      const { TRUSTED_FILES } = await import(${JSON.stringify(join(source, 'trust/trust-store.ts'))});
      const list = new StateList(process.argv[1], TRUSTED_FILES);
      for (let n = 0; n < 5; n += 1) {
        list.add([{ kind: 'agent', path: '/p/' + process.argv[2] + n, sha256: 'a'.repeat(64),
          project: '/p', trustedOn: '2026-01-02T03:04:05.678Z' }]);
      }`;
    const directory = join(root, 'state');
    const children = ['a', 'b', 'c'].map((name) =>
      spawn(process.execPath, ['--input-type=module', '-e', program, directory, name], {
        stdio: ['ignore', 'inherit', 'inherit'],
      }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0, 0]);
    expect(
      new StateList(directory, TRUSTED_FILES)
        .all()
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(['a', 'b', 'c'].flatMap((name) => [0, 1, 2, 3, 4].map((n) => `/p/${name}${n}`)));
    expect(readdirSync(directory).filter((name) => name.includes('.lock'))).toEqual([]);
  });
});

describe('the trusted files', () => {
  it('are stored by kind and path, with the last content of each', () => {
    const list = new StateList(join(root, 'state'), TRUSTED_FILES);
    list.add([entry('/p/a'), entry('/p/b')]);
    list.add([entry('/p/a', 'b'.repeat(64)), { ...entry('/p/a'), kind: 'config' }]);
    expect(list.all()).toEqual([
      entry('/p/b'),
      entry('/p/a', 'b'.repeat(64)),
      { ...entry('/p/a'), kind: 'config' },
    ]);
    expect(list.remove(({ path }) => path === '/p/b')).toEqual([entry('/p/b')]);
  });

  it.each([
    ['invalid JSON', 'x'],
    ['cut short', '{"version": 1, "files": ['],
    ['another version', '{"version": 2, "files": []}'],
    ['not a list', '{"version": 1, "files": {}}'],
    ['an invalid entry', '{"version": 1, "files": [{"kind": "agent"}]}'],
    ['an unknown kind', JSON.stringify({ version: 1, files: [{ ...entry('/a'), kind: 'x' }] })],
    ['an invalid hash', JSON.stringify({ version: 1, files: [entry('/a', 'AA')] })],
  ])('are none if the state file is damaged: %s', (_, text) => {
    const directory = join(root, 'state');
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(join(directory, 'trust.json'), text, { mode: 0o600 });
    const list = new StateList(directory, TRUSTED_FILES);
    expect(() => list.all()).toThrow(/trust\.json is damaged .*nothing in it applies/);
    expect(() => list.add([entry('/a')])).toThrow(/is damaged/);
  });
});
