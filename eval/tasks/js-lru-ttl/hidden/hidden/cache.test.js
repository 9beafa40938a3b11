import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Cache } from '../src/cache.js';
import { createCountingCache } from '../src/stats.js';

function create(options = {}) {
  const clock = { time: 1000 };
  return { clock, cache: new Cache({ max: 3, now: () => clock.time, ...options }) };
}

test('get refreshes the order, peek and has do not', () => {
  const { cache } = create();
  cache.set('a', 1).set('b', 2).set('c', 3);
  assert.equal(cache.peek('a'), 1);
  assert.equal(cache.has('a'), true);
  assert.deepEqual(cache.keys(), ['a', 'b', 'c']);
  assert.equal(cache.get('a'), 1);
  assert.deepEqual(cache.keys(), ['b', 'c', 'a']);
  cache.set('d', 4);
  assert.deepEqual(cache.keys(), ['c', 'a', 'd']);
});

test('set on a present key evicts nothing and refreshes', () => {
  const { cache } = create({ max: 2 });
  cache.set('a', 1).set('b', 2).set('a', 3);
  assert.deepEqual([cache.keys(), cache.peek('a'), cache.size], [['b', 'a'], 3, 2]);
});

test('expiry at exactly the time, and anew after a set', () => {
  const { cache, clock } = create({ ttlMs: 10 });
  cache.set('a', 1);
  clock.time = 1009;
  assert.equal(cache.get('a'), 1);
  cache.set('a', 2);
  clock.time = 1018;
  assert.equal(cache.get('a'), 2);
  clock.time = 1019;
  assert.deepEqual([cache.get('a'), cache.has('a'), cache.peek('a'), cache.size, cache.keys()], [undefined, false, undefined, 0, []]);
});

test('get does not prolong the time', () => {
  const { cache, clock } = create({ ttlMs: 10 });
  cache.set('a', 1);
  clock.time = 1005;
  cache.get('a');
  clock.time = 1010;
  assert.equal(cache.has('a'), false);
});

test('expired entries go before live ones', () => {
  const { cache, clock } = create({ max: 2, ttlMs: 100 });
  cache.set('live', 1).set('short', 2, { ttlMs: 5 });
  clock.time = 1005;
  cache.set('new', 3);
  assert.deepEqual(cache.keys(), ['live', 'new']);
});

test('the time of one entry', () => {
  const { cache, clock } = create();
  cache.set('a', 1, { ttlMs: 10 }).set('b', 2);
  clock.time = 1e9;
  assert.deepEqual(cache.keys(), ['b']);
});

test('undefined and null are values', () => {
  const { cache, stats } = createCountingCache({ max: 5 });
  cache.set('u', undefined).set('n', null).set(NaN, 0);
  assert.deepEqual([cache.has('u'), cache.has('n'), cache.has(NaN), cache.has('x'), cache.size], [true, true, true, false, 3]);
  cache.get('u');
  cache.get('n');
  cache.get('x');
  cache.peek('n');
  cache.has('n');
  assert.deepEqual(stats, { hits: 2, misses: 1 });
});

test('an expired entry is a miss', () => {
  let time = 0;
  const { cache, stats } = createCountingCache({ max: 5, ttlMs: 1, now: () => time });
  cache.set('a', 1);
  cache.get('a');
  time = 1;
  cache.get('a');
  assert.deepEqual(stats, { hits: 1, misses: 1 });
});

test('delete tells whether a live entry was there', () => {
  const { cache, clock } = create({ ttlMs: 10 });
  cache.set('a', 1);
  assert.deepEqual([cache.delete('a'), cache.delete('a'), cache.size], [true, false, 0]);
});
