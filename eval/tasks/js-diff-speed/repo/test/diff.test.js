import { test } from 'node:test';
import assert from 'node:assert/strict';
import { diffRecords } from '../src/diff.js';

test('compares records', () => {
  const result = diffRecords(
    [{ id: 1, a: 1 }, { id: 2, a: 1 }],
    [{ id: 3, a: 1 }, { id: 1, a: 2 }],
  );
  assert.deepEqual(result, {
    added: [{ id: 3, a: 1 }],
    removed: [{ id: 2, a: 1 }],
    changed: [{ id: 1, fields: ['a'] }],
  });
});

test('is fast', () => {
  const before = Array.from({ length: 60_000 }, (_, id) => ({ id, a: id }));
  const startedAt = performance.now();
  diffRecords(before, before.toReversed());
  assert.ok(performance.now() - startedAt < 2000, `${performance.now() - startedAt} ms`);
});
