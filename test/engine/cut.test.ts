import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutAtParagraph } from '../../src/engine/cut.ts';

describe('cutAtParagraph', () => {
  it('leaves alone what fits', () => {
    expect(cutAtParagraph('one\n\ntwo', 0, 100)).toEqual({ text: 'one\n\ntwo', next: null });
  });

  it('ends at a paragraph', () => {
    const paragraph = 'word '.repeat(40).trimEnd();
    const whole = Array.from({ length: 10 }, () => paragraph).join('\n\n');
    const { text, next } = cutAtParagraph(whole, 0, 170);
    expect(text).toBe(Array.from({ length: 4 }, () => paragraph).join('\n\n'));
    expect(whole.slice(next ?? 0).startsWith('word')).toBe(true);
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
          const cut = cutAtParagraph(whole, offset, most);
          expect(cut.text.isWellFormed()).toBe(true);
          if (cut.next !== null) expect(cut.next).toBeGreaterThan(offset);
          pages += cut.text;
          offset = cut.next;
        }
        expect(pages.replace(/\s/g, '')).toBe(whole.replace(/\s/g, ''));
      }),
    );
  });

  it('looks at no more of a huge text than it needs', () => {
    const { text, next } = cutAtParagraph('x'.repeat(20_000_000), 0, 100);
    expect(text.length).toBeLessThanOrEqual(2000);
    expect(next).toBe(text.length);
  });
});
