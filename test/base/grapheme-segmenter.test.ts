import { array, assert, constantFrom, integer, oneof, property } from 'fast-check';
import { expect, it } from 'vitest';
import { GraphemeSegmenter } from '../../src/base/grapheme-segmenter.ts';

const full = new Intl.Segmenter('en', { granularity: 'grapheme' });
const own = new GraphemeSegmenter('en', { granularity: 'grapheme' });

it.each([
  '',
  'plain text',
  'ä · ─── › → █ ▶',
  'e\u0301',
  '👩‍👩‍👧',
  'line\r\nline',
  '\u00ad',
  '한글',
  '©\uFE0F',
  '↔\u200D',
])('splits %j as Intl.Segmenter does', (text) => {
  expect([...own.segment(text)]).toEqual([...full.segment(text)]);
});

it('splits every pair of characters as Intl.Segmenter does', () => {
  const common = constantFrom(...'a1 ~\u00a0\u00a9\u00ae\u0300\u200d\ufe0f\r\n👩🇩🇪각ก\u0e33');
  const unit = oneof(
    common,
    integer({ min: 0, max: 0x2fff }).map((code) => String.fromCodePoint(code)),
  );
  assert(
    property(array(unit, { maxLength: 6 }), (units) => {
      const text = units.join('');
      expect([...own.segment(text)]).toEqual([...full.segment(text)]);
    }),
  );
});

it('takes none of the characters that can join with another for a single one', () => {
  for (let code = 0x20; code < 0x3000; code += 1) {
    const character = String.fromCodePoint(code);
    for (const text of [`a${character}`, `${character}a`, character.repeat(2)]) {
      expect([...own.segment(text)], `U+${code.toString(16)}`).toEqual([...full.segment(text)]);
    }
  }
});

it('splits into words as Intl.Segmenter does', () => {
  const words = new GraphemeSegmenter('en', { granularity: 'word' });
  const fullWords = new Intl.Segmenter('en', { granularity: 'word' });
  expect([...words.segment('two words')]).toEqual([...fullWords.segment('two words')]);
});
