import { expect, test } from 'vitest';
import { asksForPlace, questionTerms } from '../../../src/tools/find-places/question-terms.ts';

test.each([
  ['Where are cookies kept?', true],
  ['how is a retry delayed', true],
  ['Tell me where the index is written.', true],
  ['Is the header parsed twice?', true],
  ['Why does the pager hang?', false],
  ['Show possible values as a list', false],
  ['lost cookies after a redirect', false],
  ['', false],
])('%j asks for a place: %s', (question, asks) => {
  expect(asksForPlace(question)).toBe(asks);
});

function termsOf(question: string) {
  return questionTerms(question).map(({ kind, label, stems, weight }) => ({
    [`${kind} ${label}`]: [weight, ...stems],
  }));
}

test('a name counts whole, in its parts, and as a word', () => {
  expect(termsOf('ETags of useCache')).toEqual([
    { 'name ETags': [1.2, 'etags', 'etag'] },
    { 'word tags': [0.7, 'tag'] },
    { 'name useCache': [1.2, 'usecache', 'usecach'] },
    { 'word cache': [0.7, 'cach'] },
  ]);
});

test('words that stand side by side may be one name', () => {
  expect(termsOf('non-printable character')).toEqual([
    { 'word non': [1, 'non'] },
    { 'word printable': [1, 'print'] },
    { 'pair non printable': [0.3, 'nonprintable', 'nonprint'] },
    { 'word character': [1, 'character', 'char'] },
    { 'pair printable character': [0.3, 'printablecharacter', 'printablecharact'] },
    { 'related printable': [0.15, 'show', 'display', 'render'] },
  ]);
});

test('words of all reports tell little in a report, and something of a place', () => {
  expect(termsOf('missing cookie')).toContainEqual({ 'word missing': [0.3, 'miss'] });
  expect(termsOf('Where is a missing cookie made?')).toContainEqual({
    'word missing': [1, 'miss'],
  });
});
