import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeWorkspace } from '../workspace.ts';

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
const patchOf = (parts: string): string => `*** Begin Patch\n${parts}\n*** End Patch`;

test('changes, adds, moves and deletes files, and reports each change', async () => {
  const at = makeWorkspace();
  const changed = at.write('changed.txt', '\uFEFFa\r\nb\r\n');
  chmodSync(changed, 0o750);
  const old = at.write('old.txt', 'one\ntwo\n');
  const gone = at.write('gone.txt', 'x\n');
  const patch = patchOf(
    '*** Update File: changed.txt\n a\n-b\n+c\n*** Add File: dir/new.txt\n+new\n*** Update File: old.txt\n*** Move to: moved.txt\n one\n-two\n+three\n*** Delete File: gone.txt',
  );
  expect(await at.call('PatchFiles', { input: patch })).toEqual({
    text: 'M changed.txt: 1 change at line 1\nA dir/new.txt\nR old.txt to moved.txt: 1 change at line 1\nD gone.txt',
    facts: {
      changed: [
        {
          path: changed,
          before: sha256('\uFEFFa\r\nb\r\n'),
          after: sha256('\uFEFFa\r\nc\r\n'),
          unread: true,
        },
        { path: at.path('dir/new.txt'), before: null, after: sha256('new\n') },
        { path: at.path('moved.txt'), before: null, after: sha256('one\nthree\n'), unread: true },
        { path: old, before: sha256('one\ntwo\n'), after: null, mode: 0o644 },
        { path: gone, before: sha256('x\n'), after: null, mode: 0o644 },
      ],
    },
  });
  expect(readFileSync(changed, 'utf8')).toBe('\uFEFFa\r\nc\r\n');
  expect(statSync(changed).mode & 0o777).toBe(0o750);
  expect(readFileSync(at.path('moved.txt'), 'utf8')).toBe('one\nthree\n');
  expect([old, gone].map((path) => existsSync(path))).toEqual([false, false]);
});

test('a patched file that was not read is still unread, and one that was read stays known', async () => {
  const at = makeWorkspace();
  at.write('a.txt', 'a\n');
  at.write('b.txt', 'b\n');
  await at.call('Read', { file_path: 'b.txt' });
  const both = patchOf('*** Update File: a.txt\n-a\n+A\n*** Update File: b.txt\n-b\n+B');
  await at.call('PatchFiles', { patch: both });
  const write = async (file_path: string) =>
    (await at.call('Write', { file_path, content: '' })).error;
  expect([await write('a.txt'), await write('b.txt')]).toEqual(['CONFLICT', undefined]);
});

test('a file that has changed since it was read is not patched', async () => {
  const at = makeWorkspace();
  at.write('a.txt', 'a\n');
  await at.call('Read', { file_path: 'a.txt' });
  at.write('a.txt', 'a\nother\n');
  expect(await at.call('PatchFiles', { patch: patchOf('*** Update File: a.txt\n-a\n+A') })).toEqual(
    {
      text: 'a.txt has changed since it was read: Read it again before changing it.',
      error: 'CONFLICT',
    },
  );
});

test.each([
  [
    '*** Update File: a.txt\n-b\n+c',
    'a.txt (line 3 of the patch): the file does not have the line "b". Nothing was changed.',
  ],
  [
    '*** Add File: new.txt\n+x\n*** Update File: a.txt\n-b\n+c',
    'a.txt (line 5 of the patch): the file does not have the line "b". Nothing was changed.',
  ],
  ['*** Add File: ../x.txt\n+x', expect.stringContaining('outside')],
])('a bad patch changes nothing: %j', async (parts, text) => {
  const at = makeWorkspace();
  const path = at.write('a.txt', 'a\n');
  expect(await at.call('PatchFiles', { patch: patchOf(parts) })).toMatchObject({ text });
  expect(readFileSync(path, 'utf8')).toBe('a\n');
  expect(existsSync(at.path('new.txt'))).toBe(false);
});
