import { expect, test } from 'vitest';
import { median, quantile, spreadOf } from '../../bench/harness/statistics.ts';

test.each([
  [[], Number.NaN],
  [[3], 3],
  [[9, 1], 5],
  [[9, 1, 4], 4],
  [[8, 1, 4, 2], 3],
])('the median of %j is %d', (samples, expected) => {
  expect(median(samples)).toBe(expected);
});

test.each([
  [[5], 0.95, 5],
  [[2, 1], 0.5, 1],
  [Array.from({ length: 100 }, (_, index) => 100 - index), 0.95, 95],
  [[1, 2, 3], 1, 3],
  [[1, 2, 3], 0, 1],
])('quantile %#', (samples, share, expected) => {
  expect(quantile(samples, share)).toBe(expected);
});

test('a spread keeps the samples as they stand', () => {
  const samples = [10, 2, 6];
  expect(spreadOf(samples)).toEqual({ median: 6, min: 2, max: 10, count: 3 });
  expect(samples).toEqual([10, 2, 6]);
});
