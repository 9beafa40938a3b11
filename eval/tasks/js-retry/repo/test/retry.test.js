import { test } from 'node:test';
import assert from 'node:assert/strict';
import { retry } from '../src/index.js';

test('tries again after a failure', async () => {
  const waits = [];
  const result = await retry(
    (attempt) => {
      if (attempt < 3) throw new Error('not yet');
      return attempt * 10;
    },
    { sleep: async (ms) => void waits.push(ms) },
  );
  assert.equal(result, 30);
  assert.deepEqual(waits, [100, 200]);
});
