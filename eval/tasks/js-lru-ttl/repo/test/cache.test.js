import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Cache } from '../src/cache.js';
import { createCountingCache } from '../src/stats.js';

test('evicts the least recently used entry', () => {
  const cache = new Cache({ max: 2 });
  cache.set('a', 1).set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  assert.deepEqual(cache.keys(), ['a', 'c']);
});

test('expired entries are gone', () => {
  let time = 0;
  const cache = new Cache({ max: 2, ttlMs: 10, now: () => time });
  cache.set('a', 1);
  time = 10;
  assert.equal(cache.get('a'), undefined);
  assert.equal(cache.size, 0);
});

test('counts', () => {
  const { cache, stats } = createCountingCache({ max: 1 });
  cache.set('a', 1);
  cache.get('a');
  cache.get('b');
  assert.deepEqual(stats, { hits: 1, misses: 1 });
});
