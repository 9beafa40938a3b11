import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { REDACTED } from '../../../src/protocol/redaction.ts';
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

test.each(['~/x.txt', 'a\u202Eb.txt', '"a" b.txt', 'a  b'])(
  'changes exactly the file that the patch names: %j',
  async (name) => {
    const at = makeWorkspace();
    const path = at.write(`./${name}`, 'a\n');
    const { facts } = await at.call('PatchFiles', {
      patch: patchOf(`*** Update File: ./${name}\n-a\n+b`),
    });
    expect(facts?.changed).toMatchObject([{ path }]);
    expect(readFileSync(path, 'utf8')).toBe('b\n');
  },
);

test('a moved file keeps its permissions', async () => {
  const at = makeWorkspace();
  chmodSync(at.write('run.sh', 'a\n'), 0o755);
  const patch = patchOf('*** Update File: run.sh\n*** Move to: bin/run\n-a\n+b');
  await at.call('PatchFiles', { patch });
  expect(statSync(at.path('bin/run')).mode & 0o777).toBe(0o755);
});

test('a binary file can be deleted, but not changed or moved', async () => {
  const at = makeWorkspace();
  const path = at.write('x.bin', Buffer.from([0, 255, 1, 0]));
  for (const change of ['-a\n+b', '*** Move to: y.bin']) {
    expect(
      await at.call('PatchFiles', { patch: patchOf(`*** Update File: x.bin\n${change}`) }),
    ).toEqual({
      text: 'x.bin is binary data: it cannot be edited as text',
      error: 'INVALID_PARAM',
    });
  }
  expect(await at.call('PatchFiles', { patch: patchOf('*** Delete File: x.bin') })).toMatchObject({
    text: 'D x.bin',
    facts: { changed: [{ path, after: null }] },
  });
  expect(existsSync(path)).toBe(false);
});

test.each([
  ['*** Add File: f/g\n+x', /goes through something that is not a directory$/],
  ['*** Update File: link/a.txt\n-a\n+b', /^dir\/a.txt and link\/a.txt are the same file: /],
  ['*** Delete File: link/a.txt', /^dir\/a.txt and link\/a.txt are the same file: /],
  [`*** Update File: f\n-x\n+${REDACTED}`, /stands for a secret that you were not shown/],
])('is refused before anything is written: %j', async (second, text) => {
  const at = makeWorkspace();
  at.write('f', 'x\n');
  mkdirSync(at.path('dir'));
  const first = at.write('dir/a.txt', 'a\nb\n');
  symlinkSync('dir', at.path('link'));
  const patch = patchOf(`*** Update File: dir/a.txt\n-b\n+c\n${second}`);
  const output = at.call('PatchFiles', { patch });
  expect(await output).toEqual({ text: expect.stringMatching(text), error: expect.any(String) });
  expect(readFileSync(first, 'utf8')).toBe('a\nb\n');
});

test('a file that another task has deleted since it was read is not added again', async () => {
  const at = makeWorkspace();
  const files = { ...at.context.files, removedBy: () => 'task b', acceptRemoval: () => true };
  const patch = patchOf('*** Add File: a.txt\n+x');
  expect(await at.call('PatchFiles', { patch }, { files })).toEqual({
    text: expect.stringContaining('a.txt was deleted or moved away by task b since you read it.'),
    error: 'CONFLICT',
  });
  expect(existsSync(at.path('a.txt'))).toBe(false);
});
