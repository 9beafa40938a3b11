import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../src/protocol/tool.ts';
import { makeWorkspace, type Workspace } from '../workspace.ts';

const sha = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

/** A time that a test can name. */
function at(path: string): string {
  chmodSync(path, 0o644);
  utimesSync(path, new Date(0), new Date(1_700_000_000_000));
  return path;
}

describe('FileInfo', () => {
  test.each([
    ['one\ntwo\n', 'text, UTF-8, 2 lines'],
    ['one\ntwo', 'text, UTF-8, 2 lines, the last one without an end'],
    ['one\r\ntwo\r\n', 'text, UTF-8, 2 lines, CRLF line ends'],
    [
      'one\r\ntwo\nthree',
      'text, UTF-8, 3 lines, LF and CRLF line ends mixed, the last one without',
    ],
    ['\uFEFFx\n', 'text, UTF-8 with byte order mark, 1 line'],
    [Buffer.from('caf\xe9\n', 'latin1'), 'text, not UTF-8 (perhaps Latin-1), 1 line'],
    [Buffer.from('é').subarray(0, 1), 'text, not UTF-8'],
    [Buffer.from('89504e470d0a1a0a00', 'hex'), 'PNG image'],
    [Buffer.from([0, 1, 2]), 'binary data'],
  ])('%j', async (content, says) => {
    const work = makeWorkspace();
    at(work.write('a.txt', content));
    const { uid, gid, size } = lstatSync(work.path('a.txt'));
    const output = await work.call('FileInfo', { path: 'a.txt' });
    const lines = output.text.split('\n');
    expect(output).toEqual({ text: output.text });
    expect(lines).toEqual([
      `a.txt: a file, ${size} byte${size === 1 ? '' : 's'}`,
      `changed 2023-11-14T22:13:20.000Z, mode 0644, owner ${uid}:${gid}`,
      expect.stringContaining(says),
      `sha256 ${sha(content)}`,
    ]);
  });

  test('what is empty, large, linked twice, no file, or a directory', async () => {
    const work = makeWorkspace();
    const lines = async (path: string): Promise<readonly string[]> =>
      (await work.call('FileInfo', { file_path: path })).text.split('\n');
    work.write('empty', '');
    work.write('big', 'text\n');
    truncateSync(work.path('big'), 33 * 1024 * 1024);
    mkdirSync(work.path('dir'));
    work.write('dir/x', '');
    execFileSync('mkfifo', [work.path('fifo')]);
    expect(await lines('empty')).toEqual(['empty: a file, 0 bytes', expect.anything(), 'empty']);
    expect((await lines('big'))[2]).toMatch(/not looked at beyond the limit of 33554432 bytes: no/);
    expect(await lines('fifo')).toEqual(['fifo: a FIFO (named pipe)', expect.anything()]);
    expect(await lines('dir')).toEqual(['dir: a directory', expect.anything(), '1 entry']);
    expect(await lines('.')).toEqual(['.: a directory', expect.anything(), '4 entries']);
    expect(await lines('fif')).toEqual([`${work.path('fif')} does not exist. Near it: fifo.`]);
    const judged = new Map([
      [work.path('empty'), { real: work.path('empty'), mayHaveOtherNames: true }],
    ]);
    linkSync(work.path('empty'), work.path('other'));
    const linked = await work.call('FileInfo', { file_path: 'empty' }, { judged });
    expect(linked.text).toContain('2 names (hard links)');
    expect(await work.call('FileInfo', { file_path: 'other' })).toMatchObject({
      error: 'PERMISSION_DENIED',
    });
  });

  test('a link, and what it leads to', async () => {
    const work = makeWorkspace();
    work.write('sub/a.txt', 'x\n');
    symlinkSync('sub/a.txt', work.path('link'));
    symlinkSync('gone', work.path('dangling'));
    symlinkSync('/etc', work.path('out'));
    symlinkSync('sub', work.path('dir'));
    symlinkSync('loop', work.path('loop'));
    const text = async (path: string) => (await work.call('FileInfo', { path })).text;
    expect(await text('link')).toMatch(
      /^link: a link -> sub\/a\.txt\nsub\/a\.txt: a file, 2 bytes\n/,
    );
    expect(await text('dangling')).toBe('dangling: a link -> gone\nIt leads to nothing.');
    expect(await text('dir/a.txt')).toMatch(/^dir\/a\.txt: a file, 2 bytes\n/);
    expect(await text('out')).toMatch(/out leads to \/etc, which is outside the workspace/);
    expect(await text('loop')).toMatch(/is a link that leads in a circle/);
    expect(await text('../x')).toMatch(/is outside the workspace/);
  });

  test('it lets nothing be overwritten unread', async () => {
    const work = makeWorkspace();
    work.write('a.txt', 'x');
    await work.call('FileInfo', { file_path: 'a.txt' });
    expect(await work.call('Write', { file_path: 'a.txt', content: 'y' })).toMatchObject({
      error: 'CONFLICT',
    });
  });
});

describe('DeleteFile', () => {
  test('a file, seen or not', async () => {
    const work = makeWorkspace();
    const path = work.write('a.txt', 'x');
    expect(await work.call('DeleteFile', { path: 'a.txt' })).toEqual({
      text: 'Deleted the file a.txt.',
      facts: { changed: [{ path, before: sha('x'), after: null }] },
    });
    expect(existsSync(path)).toBe(false);
    expect(await work.call('DeleteFile', { path: 'a.txt' })).toMatchObject({ error: 'NOT_FOUND' });
  });

  test('what changed since it was read stays', async () => {
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

  test('a directory: empty, or all of it with recursive', async () => {
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
      })),
    );
    expect(readdirSync(work.root)).toEqual([]);
    expect(existsSync('/etc/passwd')).toBe(true);
  });

  test('a link goes, and not what it leads to', async () => {
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
      text: `${work.path('dir/inner')} is a link that is reached through another one: name it as ${work.path('sub/inner')}`,
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
    ['what holds it', '..', {}],
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

  test('a directory with something that is kept back stays whole', async () => {
    const work = makeWorkspace();
    for (const name of ['d/a', 'd/b/secret', 'd/c']) work.write(name, name);
    const withheldBelow: ToolContext['withheldBelow'] = () => (path) =>
      path === 'b/secret' ? 'deny rule `Edit(d/b/secret)` (--deny)' : undefined;
    const output = await work.call(
      'DeleteFile',
      { file_path: 'd', recursive: true },
      { withheldBelow },
    );
    expect(output).toEqual({
      text: 'd/b/secret is not touched with its directory (deny rule `Edit(d/b/secret)` (--deny)). Nothing was done: name the files and directories that you mean.',
      error: 'PERMISSION_DENIED',
    });
    expect(readdirSync(work.path('d'))).toEqual(['a', 'b', 'c']);
  });

  test('a read-only file stays, and what went before it is told', async () => {
    const work = makeWorkspace();
    work.write('d/a', 'a');
    chmodSync(work.write('d/a-kept', 'kept'), 0o444);
    const path = work.write('d/b', 'b');
    expect(await work.call('DeleteFile', { file_path: 'd', recursive: true })).toEqual({
      text: `${work.path('d/a-kept')} is read-only: nobody may write it. Deleted before that: d/b.`,
      error: 'PERMISSION_DENIED',
      facts: { changed: [{ path, before: sha('b'), after: null }] },
    });
  });

  test('more than the limit is refused whole', async () => {
    const work = makeWorkspace();
    for (let index = 0; index < 501; index += 1) work.write(`d/f${index}`, '');
    expect(await work.call('DeleteFile', { file_path: 'd', recursive: true })).toEqual({
      text: 'd holds more than 500 entries, the limit of one call: name smaller directories, or use Bash',
      error: 'LIMIT_EXCEEDED',
    });
    expect(readdirSync(work.path('d'))).toHaveLength(501);
  });

  test('what leads elsewhere than when it was judged is left alone', async () => {
    const work = makeWorkspace();
    const path = work.write('a.txt', 'x');
    const judged = new Map([[path, { real: work.path('b.txt'), mayHaveOtherNames: false }]]);
    expect(await work.call('DeleteFile', { file_path: 'a.txt' }, { judged })).toMatchObject({
      error: 'CONFLICT',
    });
    expect(existsSync(path)).toBe(true);
  });
});

describe('MoveFile', () => {
  const move = (work: Workspace, source: string, destination: string, more = {}) =>
    work.call('MoveFile', { source, destination, ...more });

  test('to a new place, with directories that were missing', async () => {
    const work = makeWorkspace();
    const from = work.write('a.txt', 'x');
    const to = work.path('new/deep/b.txt');
    chmodSync(from, 0o750);
    expect(await move(work, 'a.txt', 'new/deep/b.txt')).toEqual({
      text: 'Moved the file a.txt to new/deep/b.txt.',
      facts: {
        changed: [
          { path: to, before: null, after: sha('x'), movedFrom: from },
          { path: from, before: sha('x'), after: null },
        ],
      },
    });
    expect([readFileSync(to, 'utf8'), lstatSync(to).mode & 0o777]).toEqual(['x', 0o750]);
    expect(existsSync(from)).toBe(false);
  });

  test('what was known of it is known by its new name, and no more', async () => {
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

  test('over a file only when told to, and only over one that was read', async () => {
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
      text: 'Moved the file a.txt to b.txt, in the place of the file that was there.',
      facts: {
        changed: [
          { path: to, before: sha('changed'), after: sha('new'), movedFrom: work.path('a.txt') },
          { path: work.path('a.txt'), before: sha('new'), after: null },
        ],
      },
    });
    expect(readFileSync(to, 'utf8')).toBe('new');
  });

  test('a directory with all in it', async () => {
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
          { path: a, before: sha('a'), after: null },
          { path: work.path('n/d/e/b'), before: null, after: sha('b'), movedFrom: b },
          { path: b, before: sha('b'), after: null },
        ],
      },
    });
    expect(readFileSync(work.path('n/d/link'), 'utf8')).toBe('a');
  });

  test.each([
    ['a.txt', 'a.txt', 'is source itself, or lies in it'],
    ['d', 'd/e/f', 'is source itself, or lies in it'],
    ['a.txt', 'd', 'd exists already and is a directory: destination is the whole new path'],
    ['d', 'a.txt', 'a.txt exists already and is a file'],
    ['a.txt', 'link', 'link exists already and is a link'],
    ['a.txt', '../out.txt', 'is outside the workspace'],
    ['a.txt', 'out/x', 'which is outside the workspace'],
    ['out/passwd', 'x', 'which is outside the workspace'],
    ['a.txt', 'a.txt/x', 'is source itself, or lies in it'],
    ['a.txt', 'b.txt/x', 'goes through something that is not a directory'],
    ['gone', 'x', 'gone does not exist'],
    ['.', 'x', 'is a workspace root, or holds one: it stays'],
    ['a.txt', '.', 'is a workspace root, or holds one: it stays'],
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

  test('a link moves as it is', async () => {
    const work = makeWorkspace();
    work.write('a.txt', 'a');
    symlinkSync('a.txt', work.path('link'));
    expect(await move(work, 'link', 'sub/link')).toEqual({
      text: 'Moved the link link to sub/link.',
      facts: { changed: [] },
    });
    expect(lstatSync(work.path('sub/link')).isSymbolicLink()).toBe(true);
  });

  test('what is kept back at either end keeps the directory where it is', async () => {
    const work = makeWorkspace();
    work.write('d/config.toml', '');
    const withheldBelow: ToolContext['withheldBelow'] = ({ real }) =>
      real === work.path('.cargo') ? () => 'it is a protected path' : null;
    const output = await work.call(
      'MoveFile',
      { source: 'd', destination: '.cargo', recursive: true },
      { withheldBelow },
    );
    expect(output).toMatchObject({
      text: expect.stringContaining('(it is a protected path). Nothing was done'),
      error: 'PERMISSION_DENIED',
    });
    expect(readdirSync(work.root)).toEqual(['d']);
  });
});
