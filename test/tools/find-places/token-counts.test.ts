import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanTokens, termsOf } from '../../../src/base/code/tokens.ts';
import { TokenCounter } from '../../../src/tools/find-places/token-counts.ts';
import { Vocabulary } from '../../../src/tools/find-places/vocabulary.ts';

/** As the words of a question are taken apart. */
function expected(text: string) {
  const counts = new Map<string, number>();
  let length = 0;
  scanTokens(text, (token) => {
    length += 1;
    for (const term of termsOf(token)) counts.set(term, (counts.get(term) ?? 0) + 1);
  });
  return { length, counts: Object.fromEntries([...counts].toSorted()) };
}

function counter() {
  const vocabulary = new Vocabulary();
  const tokens = new TokenCounter(vocabulary);
  return (text: string) => {
    const { length, terms, counts } = tokens.count(Buffer.from(text));
    const words = [...vocabulary.terms()];
    const named = [...terms].map((term, index): [string, number] => [
      words[term] ?? '',
      counts[index] ?? 0,
    ]);
    expect([...terms]).toEqual([...terms].toSorted((a, b) => a - b));
    return { length, counts: Object.fromEntries(named.toSorted()) };
  };
}

test.each([
  ['parseHTTPHeader parse_header x1 1x $ _ a'],
  ['naïve café 漢 漢字 Ünïcödé ÉCOLE 🎉 🎉🎉'],
  ['x'.repeat(80)],
  [`${'y'.repeat(81)} ${'é'.repeat(80)} ${'é'.repeat(81)} ${'漢'.repeat(90)}`],
  ['constructor __proto__ toString hasOwnProperty'],
  [''],
])('counts in bytes what it counts in characters: %s', (text) => {
  expect(counter()(text)).toEqual(expected(text));
});

test('the same of any text, one after the other', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('getHTTPUrl', 'get_url', 'caches', 'caching', ' ', '\n', 'ß', '漢字', '_', '9'),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join('').toWellFormed());
  fc.assert(
    fc.property(fc.array(text, { maxLength: 5 }), (texts) => {
      const count = counter();
      for (const each of texts) expect(count(each)).toEqual(expected(each));
    }),
  );
});

test('very many words are told apart', () => {
  const words = Array.from({ length: 30_000 }, (_, index) => `w${index.toString(36)}q`);
  const vocabulary = new Vocabulary();
  const numbers = words.map((word) => vocabulary.add(word));
  expect(new Set(numbers).size).toBe(words.length);
  expect(words.map((word) => vocabulary.find(word))).toEqual(numbers);
  expect([vocabulary.find('other'), [...vocabulary.terms()]]).toEqual([undefined, words]);
});
