import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasSearchTerms, readQuery } from '../../../src/base/code-search/query.ts';

describe('the aim of a question', () => {
  test.each([
    ['Where are cookies kept?', true],
    ['how is a retry delayed', true],
    ['Tell me where the index is written.', true],
    ['Is the header parsed twice?', true],
    ['Why does the pager hang?', false],
    ['Show possible values as a list', false],
    ['lost cookies after a redirect', false],
    ['', false],
  ])('%j asks for a location: %s', (question, asks) => {
    expect(readQuery(question).asksForLocation).toBe(asks);
  });
});

function termsOf(question: string) {
  return readQuery(question).terms.map(({ kind, label, stems, weight }) => ({
    [`${kind} ${label}`]: [weight, ...stems],
  }));
}

test('a name is a term in full, in its parts, and as a word', () => {
  expect(termsOf('ETags of useCache')).toEqual([
    { 'name ETags': [1.2, 'etags', 'etag'] },
    { 'word tags': [0.7, 'tag'] },
    { 'name useCache': [1.2, 'usecache', 'usecach'] },
    { 'word cache': [0.7, 'cach'] },
  ]);
});

test('neighboring words may be one name', () => {
  expect(termsOf('non-printable character')).toEqual([
    { 'word non': [1, 'non'] },
    { 'word printable': [1, 'print'] },
    { 'pair non printable': [0.3, 'nonprintable', 'nonprint'] },
    { 'word character': [1, 'character', 'char'] },
    { 'pair printable character': [0.3, 'printablecharacter', 'printablecharact'] },
  ]);
});

test('words of complaint weigh little in a report only', () => {
  expect(termsOf('missing cookie')).toContainEqual({ 'word missing': [0.3, 'miss'] });
  expect(termsOf('Where is a missing cookie made?')).toContainEqual({
    'word missing': [1, 'miss'],
  });
});

test.each([
  [
    'What does ./src/base/exit-codes.ts do with package.json?',
    ['src/base/exit-codes.ts', 'package.json'],
  ],
  ['Where is `src/a.ts` used?', ['src/a.ts']],
  ['Where is it?', []],
])('paths in %j: %j', (question, paths) => {
  expect(readQuery(question).paths).toEqual(paths);
});

test.each([
  ['What can you do?', false],
  ['help', false],
  ['a function', false],
  ['', false],
  ['Where is the retry?', true],
  ['a.ts', true],
  ['getIt', true],
])('%j names what is searched for: %s', (question, expected) => {
  expect(hasSearchTerms(readQuery(question))).toBe(expected);
});

describe('kinds of files', () => {
  test.each([
    ['Where are the tests of the cookie jar?', ['test']],
    ['Which test covers a lost connection?', ['test']],
    ['Where is the parser tested?', ['test']],
    ['cookie jar tests', ['test']],
    ['Where is retrying documented?', ['docs']],
    ['What does the readme say about proxies?', ['docs']],
    ['Is there an example of a custom reporter?', ['example']],
    ['Which workflow file runs the release?', ['data']],
    ['In which JSON file are the limits set?', ['data']],
    ['Which YAML holds the matrix of builds?', ['data']],
    ['Which stylesheet colours the links?', ['style']],
  ])('%s → %j', (question, kinds) => {
    expect([...readQuery(question).kinds]).toEqual(kinds);
  });

  test.each([
    'Where are duplicate keys of a map detected while parsing JSON?',
    'Where is a JSON file parsed?',
    'How is YAML turned into objects?',
    'Fix lost cookies and add tests for them',
    'Added the example of a reporter',
    'Where is HTML escaped?',
    'Where is the style of a cell computed?',
    'Where is a test failed when it takes too long?',
    'Where is a folder deleted after a test?',
    'How is a fixture shared between tests?',
    'Where are redirects followed in the test client?',
    'Where is a number, for example 12, rounded?',
    'Where is a guide line drawn?',
  ])('a question about the sources asks for no kind of file: %s', (question) => {
    expect([...readQuery(question).kinds]).toEqual([]);
  });

  test('a path asks for its kind', () => {
    expect([...readQuery('What does index.d.ts declare?').kinds]).toEqual(['types']);
  });
});

test('any text gives few terms, each with stems and a weight', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (question) => {
      const { terms } = readQuery(question);
      expect(terms.length).toBeLessThanOrEqual(40);
      expect(terms.filter(({ stems, weight }) => stems.length === 0 || weight <= 0)).toEqual([]);
    }),
  );
});
