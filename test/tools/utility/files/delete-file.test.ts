import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../../src/protocol/tool.ts';
import { makeWorkspace } from '../../workspace.ts';

const sha = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

describe('DeleteFile', () => {
  test('deletes a file, read or not', async () => {
    const work = makeWorkspace();
    const path = work.write('a.txt', 'x');
    expect(await work.call('DeleteFile', { path: 'a.txt' })).toEqual({
      text: 'Deleted the file a.txt.',
      facts: { changed: [{ path, before: sha('x'), after: null, mode: 0o644 }] },
    });
    expect(existsSync(path)).toBe(false);
    expect(await work.call('DeleteFile', { path: 'a.txt' })).toMatchObject({ error: 'NOT_FOUND' });
  });

  test('a file that changed since it was read stays', async () => {
    const work = makeWorkspace();
    work.write('a.txt', 'x');
    await work.call('Read', { file_path: 'a.txt' });
    work.write('a.txt', 'y');
    expect(await work.call('DeleteFile', { file_path: 'a.txt' })).toEqual({
      text: 'a.txt has changed since it was read: Read it again before changing it.',
      error: 'CONFLICT',
    });
    const files = { ...work.context.files, seen: () => undefined, changedBy: () => 'task x (Y)' };
    expect(await work.call('DeleteFile', { file_path: 'a.txt' }, { files })).toMatchObject({
      text: expect.stringContaining(
        'has not been read in this task, and was written by task x (Y)',
      ),
      error: 'CONFLICT',
    });
    expect(readFileSync(work.path('a.txt'), 'utf8')).toBe('y');
  });

  test('deletes an empty directory, or a full one with recursive', async () => {
    const work = makeWorkspace();
    mkdirSync(work.path('empty'));
    const files = ['d/a', 'd/e/b', 'd/e/f/c'].map((name) => work.write(name, name));
    symlinkSync('/etc', work.path('d/out'));
    expect(await work.call('DeleteFile', { file_path: 'empty' })).toEqual({
      text: 'Deleted the empty directory empty.',
      facts: { changed: [] },
    });
    expect(await work.call('DeleteFile', { file_path: 'd' })).toEqual({
      text: 'd is a directory and not empty: set recursive to mean all of it',
      error: 'INVALID_PARAM',
    });
    const output = await work.call('DeleteFile', { file_path: 'd', recursive: true });
    expect(output.text).toBe('Deleted the directory with 4 files and 2 directories d.');
    expect(output.facts?.changed?.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      files.map((path, index) => ({
        path,
        before: sha(['d/a', 'd/e/b', 'd/e/f/c'][index] ?? ''),
        after: null,
        mode: 0o644,
      })),
    );
    expect(readdirSync(work.root)).toEqual([]);
    expect(existsSync('/etc/passwd')).toBe(true);
  });

  test('deletes a link and not its target', async () => {
    const work = makeWorkspace();
    const target = work.write('sub/a.txt', 'x');
    symlinkSync('sub/a.txt', work.path('link'));
    symlinkSync('gone', work.path('dangling'));
    symlinkSync('sub', work.path('dir'));
    symlinkSync('a.txt', work.path('sub/inner'));
    symlinkSync('/etc/hostname', work.path('out'));
    expect(await work.call('DeleteFile', { file_path: 'link' })).toEqual({
      text: 'Deleted the link link.',
      facts: { changed: [] },
    });
    expect(await work.call('DeleteFile', { file_path: 'dangling' })).toMatchObject({
      text: 'Deleted the link dangling.',
    });
    expect(await work.call('DeleteFile', { file_path: 'dir/inner' })).toEqual({
      text: `${work.path('dir/inner')} is a link, and its path goes through another link: use the path ${work.path('sub/inner')}`,
      error: 'INVALID_PARAM',
    });
    expect(await work.call('DeleteFile', { file_path: 'out' })).toMatchObject({
      error: 'PERMISSION_DENIED',
    });
    expect(await work.call('DeleteFile', { file_path: 'dir/a.txt' })).toMatchObject({
      text: 'Deleted the file sub/a.txt.',
      facts: { changed: [{ path: target }] },
    });
  });

  test.each<[string, string, Partial<ToolContext>]>([
    ['the workspace', '.', {}],
    ['the parent directory of the workspace', '..', {}],
    ['another root', 'inner', {}],
  ])('%s stays', async (_, path) => {
    const work = makeWorkspace();
    const inner = dirname(work.write('inner/a', ''));
    const roots = [work.root, inner];
    expect(
      await work.call('DeleteFile', { file_path: path, recursive: true }, { roots }),
    ).toMatchObject({ error: expect.stringMatching(/INVALID_PARAM|PERMISSION_DENIED/) });
    expect(existsSync(join(inner, 'a'))).toBe(true);
  });

  test('a directory with a withheld path stays complete', async () => {
    const work = makeWorkspace();
    for (const name of ['d/a', 'd/b/secret', 'd/c']) work.write(name, name);
    const excludedPathsBelow: ToolContext['excludedPathsBelow'] = () => (path) =>
      path === 'b/secret' ? 'deny rule `Edit(d/b/secret)` (--deny)' : undefined;
    const output = await work.call(
      'DeleteFile',
      { file_path: 'd', recursive: true },
      { excludedPathsBelow: excludedPathsBelow },
    );
    expect(output).toEqual({
      text: 'd/b/secret may not be moved or deleted with its directory (deny rule `Edit(d/b/secret)` (--deny)). Nothing was done: name the files and directories that you mean.',
      error: 'PERMISSION_DENIED',
    });
    expect(readdirSync(work.path('d'))).toEqual(['a', 'b', 'c']);
  });

  test('when a read-only file stays, the files deleted before it are named', async () => {
    const work = makeWorkspace();
    work.write('d/a', 'a');
    chmodSync(work.write('d/a-kept', 'kept'), 0o444);
    const path = work.write('d/b', 'b');
    expect(await work.call('DeleteFile', { file_path: 'd', recursive: true })).toEqual({
      text: `${work.path('d/a-kept')} is read-only: nobody may write it. Deleted before that: d/b.`,
      error: 'PERMISSION_DENIED',
      facts: { changed: [{ path, before: sha('b'), after: null, mode: 0o644 }] },
    });
  });

  test('more than the limit is refused completely', async () => {
    const work = makeWorkspace();
    for (let index = 0; index < 501; index += 1) work.write(`d/f${index}`, '');
    expect(await work.call('DeleteFile', { file_path: 'd', recursive: true })).toEqual({
      text: 'd holds more than 500 entries, the limit of one call: name smaller directories, or use Bash',
      error: 'LIMIT_EXCEEDED',
    });
    expect(readdirSync(work.path('d'))).toHaveLength(501);
  });

  test('a path that leads elsewhere than at the permission decision is left alone', async () => {
    const work = makeWorkspace();
    const path = work.write('a.txt', 'x');
    const judged = new Map([[path, { real: work.path('b.txt'), mayHaveOtherNames: false }]]);
    expect(await work.call('DeleteFile', { file_path: 'a.txt' }, { judged })).toMatchObject({
      error: 'CONFLICT',
    });
    expect(existsSync(path)).toBe(true);
  });
});
