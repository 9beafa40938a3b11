import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { titleOf } from '../../src/base/title.ts';

describe('the title of a conversation', () => {
  it.each([
    ['Fix the test', 'Fix the test'],
    ['Where is the retry limit? It fails.', 'Where is the retry limit?'],
    ['Fix the failing test.\n\nIt is in src.', 'Fix the failing test'],
    [
      'Hi. Please look at the cache in src/cache.ts',
      'Hi. Please look at the cache in src/cache.ts',
    ],
    ['# Plan\n\n- do it', 'Plan'],
    ['> quoted `code` and **strong** words', 'quoted code and strong words'],
    ['1. first thing', 'first thing'],
    ['```\nmake\n```', 'make'],
    ['\n\n  \tlook   here\t', 'look here'],
    ['read v1.2.3 of the notes', 'read v1.2.3 of the notes'],
    ['', ''],
    ['---\n***', ''],
    [
      'Explain how the limits of delegated tasks are combined with those of the configuration file',
      'Explain how the limits of delegated tasks are combined with…',
    ],
    ['x'.repeat(100), `${'x'.repeat(59)}…`],
    ['日本語'.repeat(20), `${'日本語'.repeat(9)}日本…`],
  ])('of %j is %j', (text, title) => {
    expect(titleOf(text)).toBe(title);
  });

  it('is one line, short, and its own title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const title = titleOf(text);
        expect(title).not.toMatch(/[\r\n\u2028\u2029]/);
        expect([...title].length).toBeLessThanOrEqual(60);
      }),
    );
  });
});
