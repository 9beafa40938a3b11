import { expect, test } from 'vitest';
import { bm25Document, rankByBm25 } from '../../../bench/offline/bm25.ts';
import { pairedBootstrap, rankOf, computeScores } from '../../../bench/offline/scores.ts';

test('ranks count from 1, and an answer that was not found has the rank Infinity', () => {
  expect([rankOf(['a', 'b', 'c'], ['c', 'b']), rankOf(['a'], ['b'])]).toEqual([2, Infinity]);
  expect(computeScores([1, 2, 4, Infinity])).toEqual({
    questions: 4,
    hit1: 0.25,
    hit3: 0.5,
    mrr: (1 + 1 / 2 + 1 / 4) / 4,
  });
});

test('an interval contains its mean, is the same each time, and is empty when nothing differs', () => {
  const differences = Array.from({ length: 100 }, (_, index) => Number(index % 4 === 0));
  const { mean, low, high } = pairedBootstrap(differences);
  expect([mean, low < mean, low > 0.1, high > mean, high < 0.4]).toEqual([
    0.25,
    true,
    true,
    true,
    true,
  ]);
  expect(pairedBootstrap(differences)).toEqual({ mean, low, high });
  expect(pairedBootstrap([0, 0, 0])).toEqual({ mean: 0, low: 0, high: 0 });
});

test('BM25 ranks by rare words and splits identifiers', () => {
  const documents = [
    bm25Document('a', 'the the the file'),
    bm25Document('b', 'readHeaderLine the'),
    bm25Document('c', 'the header'),
  ];
  expect(rankByBm25('the header line', documents)).toEqual(['b', 'c', 'a']);
});
