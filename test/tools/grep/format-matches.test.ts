import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../workspace.ts';

describe('a long line is shortened', () => {
  const grep = async (content: string, more: Record<string, number | boolean> = {}) => {
    const at = makeWorkspace();
    at.write('a.txt', content);
    return (await at.call('Grep', { pattern: 'KEY', output_mode: 'content', ...more })).text;
  };

  test('around a match in its middle', async () => {
    const text = await grep(`${'x'.repeat(3000)}KEY${'y'.repeat(3000)}\n`);
    expect(text).toMatch(
      /^a\.txt:1:… x{60}KEYy{437}… \[line cut, shown from character 2941 of 6003\]$/,
    );
  });

  test('around a match at its end, after characters of several bytes', async () => {
    const text = await grep(`${'é😀'.repeat(700)}KEY\r\n`);
    expect(text).toMatch(
      /^a\.txt:1:… \S{490,500}KEY \[line cut, shown from character \d+ of 2103\]$/,
    );
  });

  test('around several matches', async () => {
    const text = await grep(`KEY${'x'.repeat(2000)}KEY${'y'.repeat(2000)}KEY\n`);
    expect(text).toMatch(/^a\.txt:1:KEYx{60} … x{60}KEYy{60} … y{60}KEY \[line cut\]$/);
  });

  test('around as many matches as fit', async () => {
    const text = await grep(`${`KEY${'x'.repeat(200)}`.repeat(100)}\n`);
    expect(text).toMatch(/^a\.txt:1:KEYx{60} … .* \[line cut, 5 of 50\+ matches shown\]$/);
  });

  test('around a match over line ends', async () => {
    const at = makeWorkspace();
    at.write('a.txt', `${'x'.repeat(2000)}KEY\nEND${'y'.repeat(2000)}\n`);
    const input = { pattern: 'KEY.END', output_mode: 'content', multiline: true };
    const lines = (await at.call('Grep', input)).text.split('\n');
    expect(lines[0]).toMatch(
      /^a\.txt:1:… x{497}KEY \[line cut, shown from character 1504 of 2003\]$/,
    );
    expect(lines[1]).toMatch(/^a\.txt:2:ENDy{497}… \[line cut\]$/);
  });

  test('to its beginning when it is a context line', async () => {
    const text = await grep(`KEY\n${'z'.repeat(2000)}\n`, { after: 1 });
    expect(text).toMatch(/^a\.txt:1:KEY\na\.txt-2-z{500}… \[line cut\]$/);
  });
});
