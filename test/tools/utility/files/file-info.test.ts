import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../../workspace.ts';

const sha = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

/** A fixed time. */
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
    [
      Buffer.from('\uFEFFö\r\nx\r\n', 'utf16le'),
      'text, UTF-16LE with byte order mark, 2 lines, CRLF line ends',
    ],
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

  test('describes empty, large and hard-linked files, other entries and directories', async () => {
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
    expect((await lines('big'))[2]).toMatch(
      /larger than the limit of 33554432 bytes, so its lines were not counted/,
    );
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

  test('describes a link and its target', async () => {
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
    expect(await text('dangling')).toBe('dangling: a link -> gone\nIts target does not exist.');
    expect(await text('dir/a.txt')).toMatch(/^dir\/a\.txt: a file, 2 bytes\n/);
    expect(await text('out')).toMatch(/out leads to \/etc, which is outside the workspace/);
    expect(await text('loop')).toMatch(/is a link that leads in a circle/);
    expect(await text('../x')).toMatch(/is outside the workspace/);
  });

  test('does not count as reading before an overwrite', async () => {
    const work = makeWorkspace();
    work.write('a.txt', 'x');
    await work.call('FileInfo', { file_path: 'a.txt' });
    expect(await work.call('Write', { file_path: 'a.txt', content: 'y' })).toMatchObject({
      error: 'CONFLICT',
    });
  });
});
