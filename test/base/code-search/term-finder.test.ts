import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readQuery, type QueryTerm } from '../../../src/base/code-search/query.ts';
import { isToken, listStems, TermFinder } from '../../../src/base/code-search/term-finder.ts';

/** Counts by taking every token of the text apart. */
function expectedCounts(text: string, terms: readonly QueryTerm[]): readonly number[] {
  const tokens = text.match(/[A-Za-z0-9_$\u0080-\uffff]+/g) ?? [];
  const stems = tokens.filter(isToken).flatMap((token) => listStems(token));
  return terms.map(({ stems: wanted }) => stems.filter((stem) => wanted.includes(stem)).length);
}

function countsOf(text: string, question: string) {
  const { terms } = readQuery(question);
  const found = new TermFinder(terms).count(text);
  return {
    found: found === null ? terms.map(() => 0) : [...found],
    expected: expectedCounts(text, terms),
  };
}

test.each([
  ['parseHTTPHeader parse_header headers', 'Where are HTTP headers parsed?'],
  ['USE_CACHE useCache use_cache caching cached', 'useCache and the cache'],
  ['rateLimit rate_limit rate limit', 'rate limits'],
  ['naïve café ÉCOLE école', 'école naïve'],
  [`${'y'.repeat(81)}cache ${'x'.repeat(60)}_cache`, 'cache'],
  ['constructor __proto__ toString', 'constructor __proto__'],
  ['1cache $cache _cache', 'cache'],
  ['', 'cache'],
  ['cache', ''],
])('%j has the terms of %j as often as its tokens do', (text, question) => {
  const { found, expected } = countsOf(text, question);
  expect(found).toEqual(expected);
});

test('the same holds for any text and question', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('getHTTPUrl', 'get_url', 'caches', 'caching', ' ', '\n', 'ß', '漢字', '_', '9'),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join('').toWellFormed());
  fc.assert(
    fc.property(text, text, (searched, question) => {
      const { found, expected } = countsOf(searched, question);
      expect(found).toEqual(expected);
    }),
    { examples: [['get_url caches', 'getHTTPUrl caching']] },
  );
});
