import { test } from 'node:test';
import assert from 'node:assert/strict';
import { createPool } from '../src/pool.js';

test('a failure frees its place', async () => {
  const pool = createPool(1);
  await assert.rejects(pool.run(async () => { throw new Error('no'); }), /no/);
  assert.equal(pool.running, 0);
  assert.equal(await pool.run(async () => 3), 3);
});

test('idle waits for everything', async () => {
  const pool = createPool(2);
  const done = [];
  for (const n of [1, 2, 3]) pool.run(async () => { await null; done.push(n); });
  await pool.idle();
  assert.deepEqual(done, [1, 2, 3]);
});
