import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toFileError } from '../../../src/sys/files/file-errors.ts';
import { holdByDescriptor, holdByIdentity } from '../../../src/sys/files/held-directory.ts';
import { withHeldDirectory, openFileInRoots } from '../../../src/sys/files/open-in-roots.ts';
import { readFullFile, hashContent } from '../../../src/sys/files/read-file.ts';
import { writeFileInRoots } from '../../../src/sys/files/write-file.ts';
import { tempDirectory } from '../temp.ts';

const signal = new AbortController().signal;

function plant(): { at: string; root: string } {
  const at = tempDirectory();
  const root = join(at, 'root');
  fs.mkdirSync(join(root, 'a/b'), { recursive: true });
  fs.writeFileSync(join(root, 'a/b/file'), 'inside');
  fs.mkdirSync(join(at, 'evil/b'), { recursive: true });
  fs.writeFileSync(join(at, 'evil/b/file'), 'outside');
  return { at, root };
}

const STRATEGIES = [
  ['by identity', holdByIdentity],
  ...(process.platform === 'linux' ? [['by descriptor', holdByDescriptor] as const] : []),
] as const;

describe.each(STRATEGIES)('holding a directory %s', (_, hold) => {
  test('reaches its entries', () => {
    const { root } = plant();
    const held = hold(root, join(root, 'a/b'));
    expect(fs.readFileSync(held.at('file'), 'utf8')).toBe('inside');
    held.verify();
    held.close();
  });

  test('creates missing directories', () => {
    const { root } = plant();
    hold(root, join(root, 'x/y'), { create: true }).close();
    expect(fs.statSync(join(root, 'x/y')).isDirectory()).toBe(true);
  });

  test('reports a link on the way as an error', () => {
    const { root } = plant();
    fs.symlinkSync('../evil', join(root, 'link'));
    expect(() => hold(root, join(root, 'link/b'))).toThrow();
    expect(() => hold(root, join(root, 'link'))).toThrow();
  });

  test('gives nothing from outside if the directory is swapped for a link meanwhile', () => {
    const { root, at } = plant();
    const held = hold(root, join(root, 'a/b'));
    fs.renameSync(join(root, 'a'), join(root, 'was'));
    fs.symlinkSync(join(at, 'evil'), join(root, 'a'));
    const attempt = (): string => {
      const text = fs.readFileSync(held.at('file'), 'utf8');
      held.verify();
      return text;
    };
    let got = 'refused';
    try {
      got = attempt();
    } catch {
      // By identity: the change is noticed.
    }
    expect(got).not.toBe('outside');
    held.close();
  });
});

test('a file that was opened through a link is recognized by its identity after the link is gone', () => {
  const { root, at } = plant();
  const held = holdByIdentity(root, join(root, 'a/b'));
  fs.renameSync(join(root, 'a'), join(root, 'was'));
  fs.symlinkSync(join(at, 'evil'), join(root, 'a'));
  const stats = fs.statSync(held.at('file'), { bigint: true });
  fs.rmSync(join(root, 'a'));
  fs.renameSync(join(root, 'was'), join(root, 'a'));
  held.verify();
  expect(() => held.verify({ name: 'file', stats })).toThrow('a link on the way');
  held.verify({ name: 'file', stats: fs.statSync(join(root, 'a/b/file'), { bigint: true }) });
  held.close();
});

test('a file that keeps being swapped for a link to the outside never opens that link', () => {
  const { root, at } = plant();
  const path = join(root, 'a/b/file');
  for (let round = 0; round < 20; round += 1) {
    const isLink = round % 2 === 0;
    fs.rmSync(path);
    if (isLink) fs.symlinkSync(join(at, 'evil/b/file'), path);
    else fs.writeFileSync(path, 'inside');
    if (isLink) {
      expect(() => openFileInRoots(path, { roots: [root] })).toThrow(
        /leads to .* outside the workspace/,
      );
    } else {
      fs.closeSync(openFileInRoots(path, { roots: [root] }).fd);
    }
  }
});

test('no descriptor is left open, whatever goes wrong', async () => {
  if (process.platform !== 'linux') return;
  const { root } = plant();
  fs.symlinkSync('loop', join(root, 'loop'));
  const count = (): number => fs.readdirSync('/proc/self/fd').length;
  const before = count();
  for (const name of ['a/b/file', 'a', 'loop', 'gone', 'gone/x', '../evil/b/file', 'a/b/file/x']) {
    await readFullFile(join(root, name), { roots: [root] }, { maxBytes: 3, signal }).catch(
      () => undefined,
    );
    await writeFileInRoots(join(root, name), { roots: [root] }, Buffer.from('x'), 'nothing').catch(
      () => undefined,
    );
    try {
      withHeldDirectory(join(root, name), { roots: [root] }, () => undefined);
    } catch {
      // Most of them are no directories.
    }
  }
  expect(count()).toBe(before);
});

describe('writing', () => {
  const write = (
    root: string,
    name: string,
    content: string,
    expected: fs.BigIntStats | 'nothing',
  ) => writeFileInRoots(join(root, name), { roots: [root] }, Buffer.from(content), expected);

  test('does not mistake an existing file for a new one, or a changed one for the old', async () => {
    const { root } = plant();
    const path = join(root, 'a/b/file');
    await expect(write(root, 'a/b/file', 'x', 'nothing')).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    const stats = fs.statSync(path, { bigint: true });
    fs.writeFileSync(path, 'changed meanwhile');
    await expect(write(root, 'a/b/file', 'x', stats)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(fs.readFileSync(path, 'utf8')).toBe('changed meanwhile');
    expect(fs.readdirSync(join(root, 'a/b'))).toEqual(['file']);
  });

  test('does not write to a directory that turns out to lead outside', async () => {
    const { root, at } = plant();
    fs.symlinkSync(join(at, 'evil'), join(root, 'link'));
    await expect(write(root, 'link/new', 'x', 'nothing')).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    });
    expect(fs.readdirSync(join(at, 'evil'))).toEqual(['b']);
  });

  test('returns the real path, and the content is there', async () => {
    const { root } = plant();
    fs.symlinkSync('a', join(root, 'link'));
    expect(await write(root, 'link/b/new', 'text', 'nothing')).toEqual({
      real: join(root, 'a/b/new'),
      lost: [],
    });
    const whole = await readFullFile(
      join(root, 'link/b/new'),
      { roots: [root] },
      { maxBytes: 10, signal },
    );
    expect(whole).toMatchObject({ bytes: Buffer.from('text'), hash: hashContent('text') });
  });
});

test.each([
  ['ENOENT', 'NOT_FOUND', '/x does not exist'],
  ['EACCES', 'PERMISSION_DENIED', '/x may not be accessed: the file system refuses it'],
  ['ENOSPC', 'LIMIT_EXCEEDED', '/x cannot be written: no space left on the device'],
  ['EWHAT', 'INTERNAL_ERROR', '/x: boom'],
])('%s as an error for people', (system, code, message) => {
  const error = toFileError('/x', Object.assign(new Error('boom'), { code: system }));
  expect(error.toInfo()).toEqual({ code, message, retryable: false });
});
