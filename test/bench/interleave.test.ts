import { expect, test } from 'vitest';
import { baselineSide, interleave } from '../../bench/harness/interleave.ts';

test('sides take turns after a round of warm-up, and their order rotates', async () => {
  const order: string[] = [];
  const side = (name: string) => async () => order.push(name);
  const results = await interleave(3, { a: side('a'), b: side('b'), c: side('c') });
  expect(order.join('')).toBe('abcabcbcacab');
  expect(results).toEqual({ a: [4, 9, 11], b: [5, 7, 12], c: [6, 8, 10] });
});

test('without a warm-up each run counts', async () => {
  const order: string[] = [];
  const side = (name: string) => async () => order.push(name);
  const results = await interleave(2, { a: side('a'), b: side('b') }, { hasWarmUp: false });
  expect(order.join('')).toBe('abba');
  expect(results).toEqual({ a: [1, 4], b: [2, 3] });
});

test('a side without a build is left out', async () => {
  const order: string[] = [];
  const measure = async (bin: string) => order.push(bin);
  const results = await interleave(2, {
    current: () => measure('c'),
    baseline: baselineSide(null, measure),
    client: () => measure('n'),
  });
  expect(order.join('')).toBe('cncnnc');
  expect(results).toEqual({ current: [3, 6], baseline: [], client: [4, 5] });
});

test('the baseline build is measured like the other one', async () => {
  const results = await interleave(1, {
    current: async () => 'new',
    baseline: baselineSide('old', async (bin) => bin),
  });
  expect(results).toEqual({ current: ['new'], baseline: ['old'] });
});
