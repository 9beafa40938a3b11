import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeWorkspace } from './workspace.ts';

test('LS shows kinds and sizes, sorted by name', async () => {
  const at = makeWorkspace();
  at.write('b.txt', 'x'.repeat(2048));
  at.write('.hidden', '');
  at.write('evil\n\u001b[31m', 'x');
  mkdirSync(at.path('dir'));
  symlinkSync('/etc', at.path('out'));
  execFileSync('mkfifo', [at.path('fifo')]);
  expect(await at.call('LS', {})).toEqual({
    text: [
      '.hidden  0 B',
      'b.txt  2.0 KB',
      'dir/',
      String.raw`"evil\n\u001b[31m"  1 B`,
      'fifo  (a FIFO (named pipe))',
      'out -> /etc',
    ].join('\n'),
  });
  expect(await at.call('LS', { path: 'dir' })).toEqual({ text: '[dir is empty]' });
});

test('LS refuses anything but a directory inside the workspace', async () => {
  const at = makeWorkspace();
  at.write('a.txt', '');
  symlinkSync('..', at.path('up'));
  expect(await at.call('LS', { path: 'a.txt' })).toEqual({
    text: `${at.path('a.txt')} is a file, not a directory`,
    error: 'INVALID_PARAM',
  });
  expect(await at.call('LS', { path: 'up' })).toMatchObject({ error: 'PERMISSION_DENIED' });
  expect(await at.call('LS', { path: '..' })).toMatchObject({ error: 'PERMISSION_DENIED' });
  expect(await at.call('LS', { path: 'a.tx' })).toMatchObject({ error: 'NOT_FOUND' });
});

test('LS of a large directory says how many entries remain', async () => {
  const at = makeWorkspace();
  for (let index = 0; index < 1200; index += 1) writeFileSync(at.path(`f${index}`), '');
  const { text } = await at.call('LS', {});
  expect(text.split('\n')).toHaveLength(1001);
  expect(text).toMatch(/\n\[200 more entries: use Glob to find some by name\]$/);
});
