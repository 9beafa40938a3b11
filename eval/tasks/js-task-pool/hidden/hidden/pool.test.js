import { test } from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool } from '../src/pool.js';
import { mapLimit } from '../src/map-limit.js';

const LIMIT = { timeout: 4000 };

function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}

test('never more than the limit, in order', LIMIT, async () => {
  const pool = createPool(3);
  let running = 0;
  let most = 0;
  const started = [];
  const jobs = Array.from({ length: 40 }, (_, n) => pool.run(async () => {
    started.push(n);
    running += 1;
    most = Math.max(most, running);
    assert.ok(pool.running <= 3);
    for (let i = 0; i <= n % 4; i += 1) await null;
    running -= 1;
    return n;
  }));
  assert.deepEqual([pool.running, pool.waiting], [3, 37]);
  assert.deepEqual(await Promise.all(jobs), [...Array(40).keys()]);
  assert.deepEqual([most, started], [3, [...Array(40).keys()]]);
});

test('a newcomer does not overtake a job that waits', LIMIT, async () => {
  const pool = createPool(1);
  const first = deferred();
  const order = [];
  const a = pool.run(() => first.promise);
  const b = pool.run(async () => order.push('b'));
  first.resolve();
  const c = a.then(() => pool.run(async () => order.push('c')));
  await Promise.all([b, c]);
  assert.deepEqual(order, ['b', 'c']);
});

test('failures', LIMIT, async () => {
  const pool = createPool(2);
  const error = new Error('sync');
  const results = await Promise.allSettled([
    pool.run(() => { throw error; }),
    pool.run(async () => { throw error; }),
    pool.run(() => 5),
    pool.run(async () => 6),
  ]);
  assert.deepEqual(results.map(({ status }) => status), ['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  assert.deepEqual([pool.running, pool.waiting], [0, 0]);
});

test('idle', LIMIT, async () => {
  const pool = createPool(1);
  await pool.idle();
  const gate = deferred();
  let isIdle = false;
  pool.run(() => gate.promise).catch(() => {});
  const second = pool.run(async () => sleep(5));
  const idle = Promise.all([pool.idle().then(() => { isIdle = true; }), pool.idle()]);
  await sleep(5);
  assert.equal(isIdle, false);
  gate.reject(new Error('x'));
  await second;
  await idle;
  assert.deepEqual([pool.running, pool.waiting], [0, 0]);
});

test('close', LIMIT, async () => {
  const pool = createPool(1);
  const gate = deferred();
  let started = 0;
  const a = pool.run(() => gate.promise);
  const b = pool.run(async () => { started += 1; });
  const rejected = assert.rejects(b, { message: 'closed' });
  let closed = false;
  const closing = pool.close().then(() => { closed = true; });
  await rejected;
  await assert.rejects(pool.run(async () => { started += 1; }), { message: 'closed' });
  assert.equal(closed, false);
  gate.resolve('a');
  await closing;
  assert.deepEqual([await a, started], ['a', 0]);
});

test('wrong limits', () => {
  for (const limit of [0, -1, 1.5, NaN, '2', undefined]) assert.throws(() => createPool(limit), RangeError);
});

test('mapLimit uses every place and keeps the order', LIMIT, async () => {
  const first = deferred();
  const seen = [];
  const mapping = mapLimit(['a', 'b', 'c', 'd'], 2, async (item, index) => {
    seen.push([item, index]);
    if (item === 'a') await first.promise;
    return item.toUpperCase();
  });
  for (let waits = 0; seen.length < 4 && waits < 1000; waits += 1) await sleep(1);
  first.resolve();
  assert.deepEqual(await mapping, ['A', 'B', 'C', 'D']);
  assert.deepEqual(seen, [['a', 0], ['b', 1], ['c', 2], ['d', 3]]);
  assert.deepEqual(await mapLimit([], 2, async () => 1), []);
});

test('mapLimit stops after a failure and waits for what runs', LIMIT, async () => {
  const started = [];
  let ended = false;
  const error = new Error('first');
  await assert.rejects(mapLimit([0, 1, 2, 3, 4, 5], 2, async (n) => {
    started.push(n);
    if (n === 0) { await sleep(10); throw error; }
    if (n === 1) { await sleep(40); ended = true; }
    return n;
  }), (thrown) => thrown === error);
  assert.deepEqual([started, ended], [[0, 1], true]);
});
