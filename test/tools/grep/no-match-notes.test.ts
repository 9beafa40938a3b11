import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ToolContext } from '../../../src/protocol/tool.ts';
import { repositoryWithIgnored, SEARCH_CASES, searchLines } from '../search/search-cases.ts';
import { makeWorkspace } from '../workspace.ts';

test.each(SEARCH_CASES)('%s %j', async (...each) => {
  expect(await searchLines(repositoryWithIgnored(), each)).toEqual(each[2]);
});

test('a denied file is neither searched nor named when nothing was found', async () => {
  const at = makeWorkspace();
  fs.mkdirSync(at.path('.git'));
  at.write('.gitignore', 'hidden/\n*.log\n');
  at.write('hidden/deep/secret.txt', 'needle\n');
  at.write('a.log', 'needle\n');
  const denied: Pick<ToolContext, 'excludedPathsBelow'> = {
    excludedPathsBelow: () => (path) => (path.startsWith('hidden/') ? 'deny rule X' : undefined),
  };
  const calls = [
    ['Grep', { pattern: 'needle' }],
    ['Grep', { pattern: 'needle', glob: 'hidden/deep/secret.txt,a.log' }],
    ['Glob', { pattern: '*.txt' }],
    ['Glob', { pattern: 'hidden' }],
  ] as const;
  for (const [tool, input] of calls) {
    const { text } = await at.call(tool, input, denied);
    expect(text).not.toMatch(/secret\.txt(?! in)|2 matches/);
  }
});

test('files left out by name are counted whatever is searched for', async () => {
  const at = makeWorkspace();
  at.write('.env', 'KEY=abc\n');
  fs.writeFileSync(join(at.root, '../outside'), 'KEY=abc\n');
  fs.linkSync(join(at.root, '../outside'), at.path('hard.txt'));
  const notes = new Set<string>();
  for (const pattern of ['KEY', 'abc', 'zzz', '^$']) {
    const { text } = await at.call('Grep', { pattern });
    notes.add(text.slice(text.indexOf('\n')));
  }
  expect([...notes]).toEqual([
    '\n[not searched: 1 secret file (.env): name one as path]\n[not searched: 1 hard-linked file (hard.txt): name one as path]',
  ]);
});

test('a match after a NUL far into a file is reported as left out of a binary file', async () => {
  const at = makeWorkspace();
  at.write('late.bin', `${'line\n'.repeat(20_000)}\0\nneedle\n`);
  expect((await at.call('Grep', { pattern: 'needle' })).text).toBe(
    '[no match for needle in .]\n[1 match in 1 file left out as binary (late.bin): name one as path to search it as text]',
  );
});

test('a list that is also the name of a file gets no note on missing files', async () => {
  const at = makeWorkspace();
  at.write('a,b.ts', '');
  expect((await at.call('Glob', { pattern: 'a,b.ts' })).text).toBe('a,b.ts');
});

test('a file that is too large is reported', async () => {
  const at = makeWorkspace();
  at.write('big.txt', '');
  fs.truncateSync(at.path('big.txt'), 21 * 1024 * 1024);
  expect((await at.call('Grep', { pattern: 'needle' })).text).toBe(
    '[no match for needle in .]\n[not searched: 1 file larger than 20 MB (big.txt): use Bash]',
  );
});
