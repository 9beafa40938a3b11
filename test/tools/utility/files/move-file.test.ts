import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../../src/protocol/tool.ts';
import { makeWorkspace, type Workspace } from '../../workspace.ts';

const sha = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

describe('MoveFile', () => {
  const move = (work: Workspace, source: string, destination: string, more = {}) =>
    work.call('MoveFile', { source, destination, ...more });

  test('moves a file to a new path and creates missing directories', async () => {
    const work = makeWorkspace();
    const from = work.write('a.txt', 'x');
    const to = work.path('new/deep/b.txt');
    chmodSync(from, 0o750);
    expect(await move(work, 'a.txt', 'new/deep/b.txt')).toEqual({
      text: 'Moved the file a.txt to new/deep/b.txt.',
      facts: {
        changed: [
          { path: to, before: null, after: sha('x'), movedFrom: from },
          { path: from, before: sha('x'), after: null, mode: 0o750 },
        ],
      },
    });
    expect([readFileSync(to, 'utf8'), lstatSync(to).mode & 0o777]).toEqual(['x', 0o750]);
    expect(existsSync(from)).toBe(false);
  });

  test('what the task knows of a file applies to its new name', async () => {
    const work = makeWorkspace();
    work.write('read.txt', 'x\n');
    work.write('unread.txt', 'x\n');
    await work.call('Read', { file_path: 'read.txt' });
    await move(work, 'read.txt', 'a.txt');
    await move(work, 'unread.txt', 'b.txt');
    expect(await work.call('Write', { file_path: 'a.txt', content: 'y' })).toMatchObject({
      text: 'Replaced a.txt: 1 line.',
    });
    expect(await work.call('Write', { file_path: 'b.txt', content: 'y' })).toMatchObject({
      error: 'CONFLICT',
    });
  });

  test('replaces a file only with overwrite, and only one that was read', async () => {
    const work = makeWorkspace();
    work.write('a.txt', 'new');
    const to = work.write('b.txt', 'old');
    expect(await move(work, 'a.txt', 'b.txt')).toEqual({
      text: 'b.txt exists already: set overwrite to replace it, or take another name',
      error: 'CONFLICT',
    });
    expect(await move(work, 'a.txt', 'b.txt', { overwrite: true })).toEqual({
      text: 'b.txt has not been read in this task: Read it first.',
      error: 'CONFLICT',
    });
    await work.call('Read', { file_path: 'b.txt' });
    writeFileSync(to, 'changed');
    expect(await move(work, 'a.txt', 'b.txt', { overwrite: true })).toMatchObject({
      text: expect.stringContaining('has changed since it was read'),
    });
    await work.call('Read', { file_path: 'b.txt' });
    expect(await move(work, 'a.txt', 'b.txt', { overwrite: true })).toEqual({
      text: 'Moved the file a.txt to b.txt, replacing the file that was there.',
      facts: {
        changed: [
          {
            path: to,
            before: sha('changed'),
            mode: 0o644,
            after: sha('new'),
            movedFrom: work.path('a.txt'),
          },
          { path: work.path('a.txt'), before: sha('new'), after: null, mode: 0o644 },
        ],
      },
    });
    expect(readFileSync(to, 'utf8')).toBe('new');
  });

  test('moves a directory with its content', async () => {
    const work = makeWorkspace();
    const [a, b] = [work.write('d/a', 'a'), work.write('d/e/b', 'b')];
    symlinkSync('a', work.path('d/link'));
    mkdirSync(work.path('empty'));
    expect(await move(work, 'empty', 'x')).toMatchObject({
      text: 'Moved the empty directory empty to x.',
    });
    expect(await move(work, 'd', 'n')).toMatchObject({ error: 'INVALID_PARAM' });
    expect(await move(work, 'd', 'n/d', { recursive: true })).toEqual({
      text: 'Moved the directory with 3 files and 1 directory d to n/d.',
      facts: {
        changed: [
          { path: work.path('n/d/a'), before: null, after: sha('a'), movedFrom: a },
          { path: a, before: sha('a'), after: null, mode: 0o644 },
          { path: work.path('n/d/e/b'), before: null, after: sha('b'), movedFrom: b },
          { path: b, before: sha('b'), after: null, mode: 0o644 },
        ],
      },
    });
    expect(readFileSync(work.path('n/d/link'), 'utf8')).toBe('a');
  });

  test.each([
    ['a.txt', 'a.txt', 'is source itself, or lies in it'],
    ['d', 'd/e/f', 'is source itself, or lies in it'],
    [
      'a.txt',
      'd',
      'd exists already and is a directory: destination is the full new path, including the name',
    ],
    ['d', 'a.txt', 'a.txt exists already and is a file'],
    ['a.txt', 'link', 'link exists already and is a link'],
    ['a.txt', '../out.txt', 'is outside the workspace'],
    ['a.txt', 'out/x', 'which is outside the workspace'],
    ['out/passwd', 'x', 'which is outside the workspace'],
    ['a.txt', 'a.txt/x', 'is source itself, or lies in it'],
    ['a.txt', 'b.txt/x', 'goes through something that is not a directory'],
    ['gone', 'x', 'gone does not exist'],
    ['.', 'x', 'is a workspace root or contains one, so it cannot be moved or deleted'],
    ['a.txt', '.', 'is a workspace root or contains one, so it cannot be moved or deleted'],
    ['', 'x', 'source: is empty'],
  ])('%j to %j: %s', async (source, destination, says) => {
    const work = makeWorkspace();
    work.write('a.txt', 'a');
    work.write('b.txt', 'b');
    work.write('d/e/c.txt', 'c');
    symlinkSync('b.txt', work.path('link'));
    symlinkSync('/etc', work.path('out'));
    const output = await move(work, source, destination, { overwrite: true, recursive: true });
    expect(output.error).toBeDefined();
    expect(output.text).toContain(says);
    expect(readdirSync(work.root)).toEqual(['a.txt', 'b.txt', 'd', 'link', 'out']);
  });

  test('moves a link itself', async () => {
    const work = makeWorkspace();
    work.write('a.txt', 'a');
    symlinkSync('a.txt', work.path('link'));
    expect(await move(work, 'link', 'sub/link')).toEqual({
      text: 'Moved the link link to sub/link.',
      facts: { changed: [] },
    });
    expect(lstatSync(work.path('sub/link')).isSymbolicLink()).toBe(true);
  });

  test('a withheld path at either end keeps the directory where it is', async () => {
    const work = makeWorkspace();
    work.write('d/config.toml', '');
    const excludedPathsBelow: ToolContext['excludedPathsBelow'] = ({ real }) =>
      real === work.path('.cargo') ? () => 'it is a protected path' : null;
    const output = await work.call(
      'MoveFile',
      { source: 'd', destination: '.cargo', recursive: true },
      { excludedPathsBelow: excludedPathsBelow },
    );
    expect(output).toMatchObject({
      text: expect.stringContaining('(it is a protected path). Nothing was done'),
      error: 'PERMISSION_DENIED',
    });
    expect(readdirSync(work.root)).toEqual(['d']);
  });
});
