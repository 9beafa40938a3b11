import { describe, expect, test } from 'vitest';
import { decodeSearchedText } from '../../../src/tools/search/decode-text.ts';
import { searchFilesInScope } from '../../../src/tools/search/ripgrep.ts';
import { makeWorkspace } from '../workspace.ts';

const LIMITS = {
  maxFiles: 100,
  maxMatches: 100_000,
  maxMatchesPerFile: 100_000,
  timeMs: 10_000,
  signal: new AbortController().signal,
};
const QUERY = { ignoreCase: false, multiline: false, before: 0, after: 0 };

function utf32(text: string, write: 'writeUInt32LE' | 'writeUInt32BE'): Buffer {
  const codes = [...`\uFEFF${text}`].map((character) => character.codePointAt(0) ?? 0);
  const bytes = Buffer.alloc(codes.length * 4);
  for (const [index, code] of codes.entries()) bytes[write](code, index * 4);
  return bytes;
}

const ENCODERS = {
  'utf-8': (text: string) => Buffer.from(text),
  'utf-8 with a mark': (text: string) => Buffer.from(`\uFEFF${text}`),
  'utf-16le': (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'utf-16be': (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
  'utf-32le': (text: string) => utf32(text, 'writeUInt32LE'),
  'utf-32be': (text: string) => utf32(text, 'writeUInt32BE'),
} as const;

test.each(Object.entries(ENCODERS))('%s is decoded', (_, encode) => {
  expect(decodeSearchedText(encode('né 😀\r\nx\n'))).toBe('né 😀\r\nx\n');
});

describe.each(Object.entries(ENCODERS))('a file in %s', (_, encode) => {
  test('is searched when it is named', async () => {
    const at = makeWorkspace();
    at.write('f.txt', encode('né 😀\r\nneedle é\r\n'));
    const scope = { directory: at.root, roots: [at.root], accepts: () => true, nameGlobs: [] };
    const query = { ...QUERY, pattern: '^n.*é$' };
    const found = await searchFilesInScope(query, { ...scope, file: 'f.txt' }, LIMITS);
    expect(found.files).toEqual([
      { path: 'f.txt', matches: 1, lines: [{ number: 2, text: 'needle é', matches: true }] },
    ]);
  });
});

test('a binary file is left out of a directory, and searched as text when it is named', async () => {
  const at = makeWorkspace();
  at.write('mixed.log', Buffer.from('needle line\n\0\u0007\0binary\n\u001B[31mneedle\n'));
  const grep = async (input: Record<string, string>) =>
    (await at.call('Grep', { pattern: 'needle', output_mode: 'content', ...input })).text;
  expect(await grep({})).toBe(
    '[no match for needle in .]\n[2 matches in 1 file left out as binary (mixed.log): name one as path to search it as text]',
  );
  expect(await grep({ path: 'mixed.log' })).toBe(
    'mixed.log:1:needle line\nmixed.log:3:\uFFFD[31mneedle\n[mixed.log is binary, and was searched as text]',
  );
  expect(await grep({ path: 'mixed.log', pattern: 'zzz' })).toBe(
    '[no match for zzz in mixed.log]\n[mixed.log is binary, and was searched as text]',
  );
});
