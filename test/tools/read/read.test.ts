import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { makeWorkspace } from '../workspace.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('returns numbered lines and the hash of the file', async () => {
  const at = makeWorkspace();
  const path = at.write('a.txt', 'one\ntwo\n');
  expect(await at.call('Read', { file_path: 'a.txt' })).toEqual({
    text: '1\tone\n2\ttwo',
    facts: { read: [{ path, hash: sha256('one\ntwo\n') }] },
  });
  expect(at.context.files.seen(path)).toBe(sha256('one\ntwo\n'));
});

test('returns a part of a file and says how to read on', async () => {
  const at = makeWorkspace();
  at.write('a.txt', Array.from({ length: 2500 }, (_, index) => `l${index + 1}`).join('\n'));
  const whole = await at.call('Read', { file_path: 'a.txt' });
  expect(whole.text.split('\n')).toHaveLength(2001);
  expect(whole.text).toMatch(
    /\n2000\tl2000\n\[up to line 2000 of 2500; read on with offset 2001\]$/,
  );
  const part = await at.call('Read', { file_path: 'a.txt', offset: 2499, limit: 5 });
  expect(part.text).toBe('2499\tl2499\n2500\tl2500');
  const beyond = await at.call('Read', { file_path: 'a.txt', offset: 9999 });
  expect(beyond.text).toBe('[the file has only 2500 lines: nothing at offset 9999]');
});

test('the size limit of one Read is kept and named', async () => {
  const at = makeWorkspace();
  at.write('a.txt', `${'x'.repeat(1000)}\n`.repeat(100));
  const caps = { ...at.context.caps, readBytes: 10_000 };
  const { text } = await at.call('Read', { file_path: 'a.txt' }, { caps });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000);
  expect(text).toMatch(
    /\[up to line 9 of 100 \(the size limit of one Read\); read on with offset 10\]$/,
  );
});

test.each([
  ['empty', '', '[the file is empty]'],
  ['empty but for a byte order mark', '\uFEFF', '[the file is empty]'],
  ['CRLF', 'a\r\nb\r\n', '1\ta\n2\tb'],
  ['a NUL far inside', `${'a\n'.repeat(5000)}x\0y`, '5001\tx\u2400y'],
  ['only a line end', '\n', '1\t'],
])('%s', async (_, content, expected) => {
  const at = makeWorkspace();
  at.write('a.txt', content);
  const offset = content.length > 1000 ? 5001 : 1;
  expect((await at.call('Read', { file_path: 'a.txt', offset })).text).toBe(expected);
});

test('a huge line is cut between characters', async () => {
  const at = makeWorkspace();
  at.write('a.txt', `${'é😀'.repeat(100_000)}\nnext\n`);
  const { text } = await at.call('Read', { file_path: 'a.txt' });
  expect(text).toBe(
    `1\t${'é😀'.repeat(1000)}… [line cut: 600000 bytes; the rest: offset 1, column 6001]\n2\tnext`,
  );
});

test('text that is not UTF-8 is shown with a note', async () => {
  const at = makeWorkspace();
  at.write(
    'damaged.txt',
    Buffer.concat([Buffer.from('café\nol'), Buffer.from([0xe9]), Buffer.from(' é\n')]),
  );
  expect((await at.call('Read', { file_path: 'damaged.txt' })).text).toBe(
    '1\tcafé\n2\tol\uFFFD é\n[not valid UTF-8: invalid bytes are shown as \uFFFD]',
  );
  at.write('sjis.txt', Buffer.from([0x82, 0xb1, 0x82, 0xf1, 0x81, 0x41]));
  expect((await at.call('Read', { file_path: 'sjis.txt' })).text).toMatch(/\n\[not valid UTF-8: /);
});

test.each([
  ['gzip', Buffer.from('1f8b0800000000000003', 'hex'), 'gzip data, 10 bytes'],
  ['UTF-32', Buffer.from('fffe000068000000', 'hex'), 'binary data, 8 bytes'],
  [
    'no UTF-16 in spite of its mark',
    Buffer.from('fffe00d800d80000', 'hex'),
    'binary data, 8 bytes',
  ],
  ['zeros', Buffer.alloc(100), 'binary data, 100 bytes'],
  ['controls', Buffer.alloc(100, 1), 'binary data, 100 bytes'],
])('binary: %s', async (_, content, kind) => {
  const at = makeWorkspace();
  at.write('a', content);
  expect(await at.call('Read', { file_path: 'a' })).toEqual({
    text: `a is not text: ${kind}. Its contents are not shown.`,
    error: 'INVALID_PARAM',
  });
});

test('anything but a regular file is a clear error at once', async () => {
  const at = makeWorkspace();
  execFileSync('mkfifo', [at.path('fifo')]);
  mkdirSync(at.path('dir'));
  symlinkSync('loop-b', at.path('loop-a'));
  symlinkSync('loop-a', at.path('loop-b'));
  const server = createServer().listen(at.path('socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const ask = async (file_path: string) => (await at.call('Read', { file_path })).text;
  expect(await ask('fifo')).toBe(`${at.path('fifo')} is a FIFO (named pipe), not a regular file`);
  expect(await ask('socket')).toBe(`${at.path('socket')} is a socket, not a regular file`);
  expect(await ask('dir')).toBe(`${at.path('dir')} is a directory: use LS to see what is in it`);
  expect(await ask('loop-a')).toBe(`${at.path('loop-a')} is a link that leads in a circle`);
});

test.each([
  ['/etc/hostname'],
  ['../secret.txt'],
  ['out.txt'],
  ['out-dir/secret.txt'],
  ['dir/../../secret.txt'],
  ['~/../../etc/passwd'],
])('outside the workspace: %s', async (file_path) => {
  const at = makeWorkspace();
  writeFileSync(at.path('../secret.txt'), 'secret');
  symlinkSync('../secret.txt', at.path('out.txt'));
  symlinkSync('..', at.path('out-dir'));
  const result = await at.call('Read', { file_path });
  expect(result.error).toBe('PERMISSION_DENIED');
  expect(result.text).toContain('is outside the workspace');
  expect(result.text).not.toContain('secret\n');
});

test.each(['/proc/self/environ', '/dev/null', '/sys/kernel/version'])(
  '%s stays closed even when the root is /',
  async (file_path) => {
    const at = makeWorkspace();
    expect(await at.call('Read', { file_path }, { roots: ['/'] })).toMatchObject({
      error: 'PERMISSION_DENIED',
    });
  },
);

test('links inside the workspace are followed', async () => {
  const at = makeWorkspace();
  at.write('real/a.txt', 'hi\n');
  symlinkSync('real', at.path('dir'));
  symlinkSync(at.path('dir/a.txt'), at.path('link'));
  const hit = await at.call('Read', { file_path: 'link' });
  expect(hit.text).toBe('1\thi');
  expect(hit.facts?.read?.[0]?.path).toBe(at.path('real/a.txt'));
});

test('for a missing file similar names are suggested, also when it is deleted meanwhile', async () => {
  const at = makeWorkspace();
  at.write('src/config.ts', '');
  const path = at.path('src/config.ts');
  expect(await at.call('Read', { file_path: 'src/config.js' })).toEqual({
    text: `${at.path('src/config.js')} does not exist. Near it: src/config.ts.`,
    error: 'NOT_FOUND',
  });
  expect((await at.call('Glob', { pattern: '*.ts' })).text).toBe('src/config.ts');
  rmSync(path);
  expect((await at.call('Read', { file_path: 'src/config.ts' })).error).toBe('NOT_FOUND');
  expect((await at.call('Read', { file_path: 'lib/deep/a.ts' })).text).toBe(
    `${at.path('lib/deep/a.ts')} does not exist. Its directory lib/deep does not exist either.`,
  );
  expect((await at.call('Read', { file_path: 'src/config.ts/x' })).error).toBe('NOT_FOUND');
});

test.each([
  ['a\0b', 'the path contains a NUL character'],
  ['file:///etc/passwd', 'is a URL'],
  [`${'a/'.repeat(3000)}b`, 'longer than 4096 bytes'],
  ['x'.repeat(300), 'too long'],
])('unusable path %#', async (file_path, said) => {
  const at = makeWorkspace();
  const result = await at.call('Read', { file_path });
  expect(result.error).toBeDefined();
  expect(result.text).toContain(said);
});

test('a file of 1 GB is read in bounded memory', async () => {
  const at = makeWorkspace();
  const text = at.write('big.txt', 'first\nsecond\nthird\n'.repeat(3000));
  truncateSync(text, 1024 ** 3);
  const zeros = at.write('zeros', '');
  truncateSync(zeros, 1024 ** 3);
  const before = process.memoryUsage();
  const part = await at.call('Read', { file_path: 'big.txt', limit: 2 });
  const huge = await at.call('Read', { file_path: 'big.txt', offset: 9001 });
  const binary = await at.call('Read', { file_path: 'zeros' });
  const after = process.memoryUsage();
  expect(part.text).toBe('1\tfirst\n2\tsecond\n[up to line 2; read on with offset 3]');
  expect(huge.text).toMatch(
    /^9001\t\u2400{2000}… \[line cut: \d+ bytes; the rest: offset 9001, column 2001\]$/,
  );
  expect(binary.text).toContain('binary data, 1073741824 bytes');
  const grown = after.heapUsed + after.external - before.heapUsed - before.external;
  expect(grown).toBeLessThan(64 * 1024 * 1024);
  expect(
    await at.call('Edit', { file_path: 'big.txt', old_string: 'first', new_string: 'x' }),
  ).toEqual({
    text: `${text} is larger than the limit of 33554432 bytes`,
    error: 'LIMIT_EXCEEDED',
  });
});

test('a cancelled Read reports that', async () => {
  const at = makeWorkspace();
  at.write('a.txt', 'x');
  const signal = AbortSignal.abort();
  expect(await at.call('Read', { file_path: 'a.txt' }, { signal })).toEqual({
    text: 'Read was cancelled.',
    error: 'CANCELLED',
  });
});
