import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../src/protocol/tool.ts';
import { repositoryWithIgnored, SEARCH_CASES, searchLines } from '../search/search-cases.ts';
import { makeWorkspace } from '../workspace.ts';

test.each(SEARCH_CASES)('%s %j', async (...each) => {
  expect(await searchLines(repositoryWithIgnored(), each)).toEqual(each[2]);
});

test('what a rule denies is neither searched nor named where nothing was found', async () => {
  const at = makeWorkspace();
  fs.mkdirSync(at.path('.git'));
  at.write('.gitignore', 'hidden/\n*.log\n');
  at.write('hidden/deep/secret.txt', 'needle\n');
  at.write('a.log', 'needle\n');
  const denied: Pick<ToolContext, 'withheldBelow'> = {
    withheldBelow: () => (path) => (path.startsWith('hidden/') ? 'deny rule X' : undefined),
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

test('what is left out for its name is counted the same, whatever is looked for', async () => {
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

test('what stands behind a NUL far into a file is told as left out of a binary file', async () => {
  const at = makeWorkspace();
  at.write('late.bin', `${'line\n'.repeat(20_000)}\0\nneedle\n`);
  expect((await at.call('Grep', { pattern: 'needle' })).text).toBe(
    '[no match for needle in .]\n[1 match in 1 file left out as binary (late.bin): name one as path to search it as text]',
  );
});

test('of a list that is the name of a file nothing is missing', async () => {
  const at = makeWorkspace();
  at.write('a,b.ts', '');
  expect((await at.call('Glob', { pattern: 'a,b.ts' })).text).toBe('a,b.ts');
});

test('a file that is too large is told', async () => {
  const at = makeWorkspace();
  at.write('big.txt', '');
  fs.truncateSync(at.path('big.txt'), 21 * 1024 * 1024);
  expect((await at.call('Grep', { pattern: 'needle' })).text).toBe(
    '[no match for needle in .]\n[not searched: 1 file larger than 20 MB (big.txt): use Bash]',
  );
});

describe('a long line shows where the match is', () => {
  const grep = async (content: string, more: Record<string, number | boolean> = {}) => {
    const at = makeWorkspace();
    at.write('a.txt', content);
    return (await at.call('Grep', { pattern: 'KEY', output_mode: 'content', ...more })).text;
  };

  test('in the middle', async () => {
    const text = await grep(`${'x'.repeat(3000)}KEY${'y'.repeat(3000)}\n`);
    expect(text).toMatch(
      /^a\.txt:1:… x{60}KEYy{437}… \[line cut, shown from character 2941 of 6003\]$/,
    );
  });

  test('at its end, with characters of several bytes before', async () => {
    const text = await grep(`${'é😀'.repeat(700)}KEY\r\n`);
    expect(text).toMatch(
      /^a\.txt:1:… \S{490,500}KEY \[line cut, shown from character \d+ of 2103\]$/,
    );
  });

  test('in several places', async () => {
    const text = await grep(`KEY${'x'.repeat(2000)}KEY${'y'.repeat(2000)}KEY\n`);
    expect(text).toMatch(/^a\.txt:1:KEYx{60} … x{60}KEYy{60} … y{60}KEY \[line cut\]$/);
  });

  test('in more places than fit', async () => {
    const text = await grep(`${`KEY${'x'.repeat(200)}`.repeat(100)}\n`);
    expect(text).toMatch(/^a\.txt:1:KEYx{60} … .* \[line cut, 5 of 50\+ matches shown\]$/);
  });

  test('over line ends', async () => {
    const at = makeWorkspace();
    at.write('a.txt', `${'x'.repeat(2000)}KEY\nEND${'y'.repeat(2000)}\n`);
    const input = { pattern: 'KEY.END', output_mode: 'content', multiline: true };
    const lines = (await at.call('Grep', input)).text.split('\n');
    expect(lines[0]).toMatch(
      /^a\.txt:1:… x{497}KEY \[line cut, shown from character 1504 of 2003\]$/,
    );
    expect(lines[1]).toMatch(/^a\.txt:2:ENDy{497}… \[line cut\]$/);
  });

  test('and a line of context its beginning', async () => {
    const text = await grep(`KEY\n${'z'.repeat(2000)}\n`, { after: 1 });
    expect(text).toMatch(/^a\.txt:1:KEY\na\.txt-2-z{500}… \[line cut\]$/);
  });
});
