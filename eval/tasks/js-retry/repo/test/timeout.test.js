import { test } from 'node:test';
import assert from 'node:assert/strict';
import { timeout } from '../src/index.js';

test('rejects after the time', async () => {
  await assert.rejects(timeout(new Promise(() => {}), 5), { name: 'TimeoutError' });
  assert.equal(await timeout(Promise.resolve(4), 1000), 4);
});
