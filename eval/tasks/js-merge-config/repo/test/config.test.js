import { test } from 'node:test';
import assert from 'node:assert/strict';
import { loadConfig } from '../src/load.js';
import { merge } from '../src/merge.js';

test('later files win', () => {
  const config = loadConfig(['{"a":{"x":1,"y":[1,2]}}', '{"a":{"y":[3]}}'], ['a.z=5']);
  assert.deepEqual(config, { a: { x: 1, y: [3], z: '5' } });
});

test('does not change its arguments', () => {
  const base = { a: { x: 1 } };
  merge(base, { a: { x: 2 } });
  assert.deepEqual(base, { a: { x: 1 } });
});

test('refuses to change prototypes', () => {
  assert.throws(() => loadConfig(['{"__proto__":{"polluted":1}}']), /__proto__/);
  assert.equal({}.polluted, undefined);
});
