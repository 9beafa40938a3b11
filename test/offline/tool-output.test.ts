import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hiddenEntries,
  parseCounts,
  parseFileLines,
  parseFoundLines,
  parsePathList,
} from '../../src/model/offline/tool-output.ts';

const CWD = '/w/repo';

test('paths are relative to the directory, notes are passed over', () => {
  const text =
    '/w/repo/a.ts\n./b c.ts\n/other/d.ts\n[cut: 3 more files]\n\nbad\u0007.ts\nNo files match';
  expect(parsePathList(text, CWD, 10)).toEqual(['a.ts', 'b c.ts', '/other/d.ts']);
  expect(parsePathList(text, CWD, 1)).toEqual(['a.ts']);
});

test('what a rule keeps back is no path, and a quoted name is read as the name', () => {
  const text = [
    '[1 file left out: deny rule `Read(app.js)` (/etc/config.toml:2)]',
    '[12 files left out: it looks like a secret]',
    '"a\\nb.ts"',
    '"bidi\u202e.ts"',
    '"quoted.ts"',
    '"no \\json.ts"',
  ].join('\n');
  expect(parsePathList(text, CWD, 10)).toEqual(['bidi\u202e.ts', '"quoted.ts"', '"no \\json.ts"']);
});

test('counts', () => {
  expect(parseCounts('/w/repo/a.ts:3\nsrc/b.ts: 12\nno count here\nc:d.ts:1', CWD, 10)).toEqual([
    { path: 'a.ts', count: 3 },
    { path: 'src/b.ts', count: 12 },
    { path: 'c:d.ts', count: 1 },
  ]);
});

describe('found lines', () => {
  test.each([
    ['one a line', 'a.ts:3:x: 4:5', {}, [{ path: 'a.ts', line: 3, text: 'x: 4:5' }]],
    [
      'below a heading',
      'a.ts\n3:x\n4\ty',
      {},
      [
        { path: 'a.ts', line: 3, text: 'x' },
        { path: 'a.ts', line: 4, text: 'y' },
      ],
    ],
    [
      'of the one file searched',
      '3:x',
      { searched: 'a.ts' },
      [{ path: 'a.ts', line: 3, text: 'x' }],
    ],
    ['of an unknown file', '3:x', {}, []],
    ['notes', '[cut: more lines]\nNo matches found', {}, []],
  ])('%s', (_, text, options, expected) => {
    expect(parseFoundLines(text, CWD, { limit: 10, ...options })).toEqual(expected);
  });

  test('a line of megabytes is kept short', () => {
    const [found] = parseFoundLines(`a.ts:1:${'x'.repeat(5_000_000)}`, CWD, { limit: 10 });
    expect(found?.text.length).toBe(400);
  });
});

test('lines of a file in every usual form; a number that a line of text begins with is text', () => {
  const text = '  1→a\n2\t7\tb\n3| c\n4: d\n[up to line 4 of 9]';
  expect(parseFileLines(text)).toEqual([
    { line: 1, text: 'a' },
    { line: 2, text: '7\tb' },
    { line: 3, text: 'c' },
    { line: 4, text: 'd' },
  ]);
});

test.each([
  ['src/more.ts:3', 0],
  ['a.ts:1\n[12 more lines did not fit: narrow the pattern]', 12],
  [
    'a.ts\n[more than 3 more files: narrow the pattern or the path]\n[not searched: 1 secret file]',
    3,
  ],
  ['a.ts:1\n[stopped at 1000 results: there may be more]', Infinity],
  ['', 0],
])('a cut listing says so: %s', (text, expected) => {
  expect(hiddenEntries(text)).toBe(expected);
});

test('no text makes a parser fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      parsePathList(text, CWD, 5);
      parseCounts(text, CWD, 5);
      parseFoundLines(text, CWD, { limit: 5 });
      parseFileLines(text);
    }),
  );
});
