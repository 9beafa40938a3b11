import { describe, expect, it } from 'vitest';
import { isId, newId } from '../../src/base/ids.ts';
import { formatDuration, plural, truncate, toShellWord } from '../../src/base/text.ts';

describe('truncate', () => {
  it.each([
    ['abc', 5, 'abc'],
    ['abcdef', 3, 'abc'],
    ['a😀b', 2, 'a😀'],
    ['😀😀😀', 2, '😀😀'],
    ['', 0, ''],
  ])('%j to %i code points is %j', (text, most, expected) => {
    expect(truncate(text, most)).toBe(expected);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [850.4, '850 ms'],
    [12_340, '12.3 s'],
    [250_000, '4 min 10 s'],
  ])('%d is %s', (ms, expected) => {
    expect(formatDuration(ms)).toBe(expected);
  });
});

describe('plural', () => {
  it.each([
    [0, '0 files'],
    [1, '1 file'],
    [2, '2 files'],
  ])('%d', (count, expected) => {
    expect(plural(count, 'file')).toBe(expected);
  });
});

describe('ids', () => {
  it('are 12 of [a-z0-9], and do not repeat', () => {
    const ids = Array.from({ length: 2000 }, newId);
    expect(ids.every((id) => /^[a-z0-9]{12}$/.test(id) && isId(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(['', 'short', 'UPPERCASE1', '../etc/passwd', 'a'.repeat(33), 'has space0'])(
    'refuse %j',
    (text) => {
      expect(isId(text)).toBe(false);
    },
  );
});

it.each([
  ['demo', 'demo'],
  ['a-b_c.d/e:f@g%h+i=', "'a-b_c.d/e:f@g%h+i='"],
  ['https://a/b', 'https://a/b'],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['-x', "'-x'"],
  ['~', "'~'"],
  ['$(id)', "'$(id)'"],
  ['', "''"],
])('%s is a word for a shell as %s', (text, word) => {
  expect(toShellWord(text)).toBe(word);
});
