import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_TERMS, readQuery, withEarlier } from '../../src/model/offline/terms.ts';

function terms(question: string) {
  return readQuery(question).terms.map((term) => `${term.kind}:${term.label}`);
}

describe('readQuery', () => {
  test.each([
    [
      'Where is the alias table for tool names?',
      [
        'word:alias',
        'word:table',
        'word:tool',
        'word:names',
        'compound:alias table',
        'compound:tool names',
        'related:synonym',
      ],
    ],
    ['Who calls `fitLines`?', ['identifier:fitLines', 'word:fit', 'word:calls', 'word:lines']],
    [
      'Where does "did you mean" come from?',
      ['phrase:did you mean', 'word:mean', 'word:come', 'compound:mean come'],
    ],
    ['retry_count', ['identifier:retry_count', 'word:retry', 'word:count']],
    ['What does it do?', []],
    ['', []],
  ])('%s', (question, expected) => {
    expect(terms(question)).toEqual(expected);
  });

  test('paths are taken out, and their names are words', () => {
    const query = readQuery('What does ./src/base/exit-codes.ts do with package.json?');
    expect(query.paths).toEqual(['src/base/exit-codes.ts', 'package.json']);
    expect(query.terms.map((term) => term.label)).toContain('exit');
  });

  test('a word that most code holds counts less than another', () => {
    const [first, second] = readQuery('retry function').terms;
    expect([first?.label, second?.label]).toEqual(['retry', 'function']);
    expect((second?.weight ?? 1) < (first?.weight ?? 0)).toBe(true);
  });

  test.each([
    ['authentication', 'const auth = 1', true],
    ['cache', 'useCaching()', true],
    ['cache', 'LRU_CACHE_SIZE', true],
    ['read', 'await readFile(x)', true],
    ['read', 'isReady = already', false],
    ['read', 'new Thread()', false],
    ['id', 'identity', false],
    ['id', 'newId()', true],
    ['http', 'class HTTPServer', true],
  ])('%s in %s: %s', (word, line, expected) => {
    const [term] = readQuery(word).terms;
    expect(new RegExp(term?.pattern ?? '$^').test(line)).toBe(expected);
  });

  test('whatever is asked: few terms, and every pattern compiles', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (question) => {
        const query = readQuery(question);
        for (const term of query.terms) new RegExp(term.pattern).test(question);
        return query.terms.length <= MAX_TERMS;
      }),
    );
  });
});

test('an earlier question adds its terms at half their weight', () => {
  const query = withEarlier(readQuery('tests?'), readQuery('alias table'));
  expect(query.terms.map((term) => [term.label, term.weight])).toEqual([
    ['tests', 1],
    ['alias', 0.5],
    ['table', 0.5],
    ['alias table', 0.5],
    ['synonym', 0.15],
  ]);
});
