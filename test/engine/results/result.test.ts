import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/base/token-estimate.ts';
import { cutPage } from '../../../src/engine/results/result.ts';

describe('cutPage', () => {
  it('returns a text that fits unchanged', () => {
    expect(cutPage('one\n\ntwo', 0, 100)).toEqual({ text: 'one\n\ntwo', next: null });
  });

  it('ends at a paragraph', () => {
    const paragraph = 'word '.repeat(40).trimEnd();
    const whole = Array.from({ length: 10 }, () => paragraph).join('\n\n');
    const { text, next } = cutPage(whole, 0, 170);
    expect(text).toBe(Array.from({ length: 4 }, () => paragraph).join('\n\n'));
    expect(whole.slice(next ?? 0).startsWith('word')).toBe(true);
  });

  it('ends even if the limit is not a number', () => {
    expect(cutPage('one two three', 0, Number.NaN).text.length).toBeLessThanOrEqual(2);
  });

  it('pages through any text to its end, losing nothing but space at the cuts', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 400 });
    const spaced = fc.array(text, { maxLength: 12 }).map((parts) => parts.join('\n\n'));
    fc.assert(
      fc.property(spaced, fc.integer({ min: 1, max: 60 }), (whole, most) => {
        let pages = '';
        let offset: number | null = 0;
        for (let page = 0; offset !== null; page += 1) {
          expect(page).toBeLessThanOrEqual(whole.length);
          const cut = cutPage(whole, offset, most);
          expect(cut.text.isWellFormed()).toBe(true);
          if (cut.next !== null) expect(cut.next).toBeGreaterThan(offset);
          pages += cut.text;
          offset = cut.next;
        }
        expect(pages.replace(/\s/g, '')).toBe(whole.replace(/\s/g, ''));
      }),
    );
  });

  it.each([
    ['a line of a megabyte', 'lorem ipsum dolor '.repeat(60_000), / $/],
    ['a word of a megabyte', 'x'.repeat(1_000_000), /x$/],
    ['JSON on one line', JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id }))), /,$/],
    ['Chinese in paragraphs', `${'\u6f22\u5b57\u3002'.repeat(60)}\n\n`.repeat(500), /\n\n$/],
    ['Chinese in sentences', '\u6f22\u5b57\u6f22\u5b57\u3002'.repeat(20_000), /\u3002$/],
    ['Thai', '\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22'.repeat(20_000), /.$/],
    ['families', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(20_000), /.$/u],
    ['halves of pairs', '\ud800'.repeat(50_000), /\ud800$/],
    ['paragraphs of Windows', `${'word '.repeat(40)}\r\n\r\n`.repeat(500), /\r\n\r\n$/],
    ['sentences', 'One two three. '.repeat(10_000), /\. $/],
  ])('keeps to the tokens in %s, and cuts it well', (_, whole, end) => {
    const { text, next } = cutPage(whole, 0, 2_000);
    expect(estimateTokens(text)).toBeLessThanOrEqual(2_000);
    expect(estimateTokens(text)).toBeGreaterThan(900);
    expect(whole.slice(0, next ?? 0)).toMatch(end);
    expect(whole.slice(0, next ?? 0).trimEnd()).toBe(text);
  });

  it('starts at a code point', () => {
    expect(cutPage('a\u{1f600}b', 2, 10)).toEqual({ text: '\u{1f600}b', next: null });
  });

  it('reads no more of a huge text than it needs', () => {
    const { text, next } = cutPage('x'.repeat(20_000_000), 0, 100);
    expect(text.length).toBeLessThanOrEqual(2000);
    expect(next).toBe(text.length);
  });
});
