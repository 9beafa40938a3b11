import { array, assert, double, property } from 'fast-check';
import { expect, test } from 'vitest';
import { estimateRatio, median, quantile, summarize } from '../../bench/harness/statistics.ts';

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

test('a summary does not change the order of the samples', () => {
  const samples = [10, 2, 6];
  expect(summarize(samples)).toEqual({ median: 6, min: 2, max: 10, count: 3 });
  expect(samples).toEqual([10, 2, 6]);
});

const BASE = [100, 100, 100, 100, 100, 100, 100, 100, 100];

// Ranks of the 95 % interval of the median: 1 and 6 of 6, 1 and 8 of 8, 2 and 8 of 9 (binomial table).
test.each([
  [[150], { ratio: 1.5, interval: null }],
  [[90, 100, 110, 120, 130], { ratio: 1.1, interval: null }],
  [[90, 100, 110, 120, 130, 140], { ratio: 1.15, interval: [0.9, 1.4] }],
  [[80, 90, 100, 110, 120, 130, 140, 150], { ratio: 1.15, interval: [0.8, 1.5] }],
  [[150, 80, 90, 100, 110, 120, 130, 140, 200], { ratio: 1.2, interval: [0.9, 1.5] }],
])('%j divided by 100 each', (samples, expected) => {
  expect(estimateRatio(samples, BASE.slice(0, samples.length))).toEqual(expected);
});

test('a slow round changes no ratio, because both values of the pair are slow', () => {
  expect(estimateRatio([100, 1000, 100], [50, 500, 50]).ratio).toBe(2);
});

test('samples of a different number cannot be compared', () => {
  expect(() => estimateRatio([1, 2], [1])).toThrow('2 samples cannot be paired with 1');
});

test('an interval contains its ratio, and equal builds have the ratio 1', () => {
  const times = array(double({ min: 1, max: 1e6, noNaN: true }), {
    minLength: 6,
    maxLength: 60,
  });
  assert(
    property(times, double({ min: 0.1, max: 10, noNaN: true }), (samples, factor) => {
      const others = samples.map((_, index) => samples[(index + 1) % samples.length] ?? 1);
      const { ratio, interval } = estimateRatio(samples, others);
      expect(interval?.[0]).toBeLessThanOrEqual(ratio);
      expect(interval?.[1]).toBeGreaterThanOrEqual(ratio);
      const scaled = samples.map((sample) => sample * factor);
      expect(estimateRatio(scaled, samples).ratio).toBeCloseTo(factor, 9);
    }),
  );
});
