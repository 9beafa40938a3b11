import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affected, buildOrder, CycleError } from '../src/order.ts';

test('batches', () => {
  const targets = { app: ['lib', 'ui'], ui: ['lib'], lib: [], docs: [] };
  assert.deepEqual(buildOrder(targets), [['docs', 'lib'], ['ui'], ['app']]);
  assert.deepEqual(affected(targets, ['ui']), ['app', 'ui']);
});

test('a cycle', () => {
  assert.throws(() => buildOrder({ b: ['a'], a: ['b'] }), (thrown: unknown) => thrown instanceof CycleError && thrown.cycle.join() === 'a,b');
});
