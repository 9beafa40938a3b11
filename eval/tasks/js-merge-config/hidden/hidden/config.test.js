import { test } from 'node:test';
import assert from 'node:assert/strict';
import { loadConfig } from '../src/load.js';
import { merge } from '../src/merge.js';
import { getPath, setPath } from '../src/paths.js';

const isClean = () => Object.keys(Object.prototype).length === 0 && {}.polluted === undefined;

test('dangerous keys in files are refused wherever they are', () => {
  for (const text of [
    '{"__proto__":{"polluted":1}}',
    '{"a":{"__proto__":{"polluted":1}}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"a":[{"b":{"__proto__":1}}]}',
    '{"prototype":1}',
  ]) {
    assert.throws(() => loadConfig(['{"a":{}}', text]), (error) => error instanceof Error && /__proto__|constructor|prototype/.test(error.message), text);
    assert.throws(() => loadConfig([text]), Error, text);
    assert.ok(isClean(), text);
  }
});

test('dangerous paths are refused', () => {
  for (const path of ['__proto__.polluted', 'a.__proto__.polluted', 'constructor.prototype.polluted', 'a.constructor', 'prototype']) {
    const object = { a: {} };
    assert.throws(() => setPath(object, path, 1), /__proto__|constructor|prototype/);
    assert.deepEqual(object, { a: {} });
  }
  assert.throws(() => loadConfig([], ['__proto__.polluted=1']), /__proto__/);
  assert.ok(isClean());
});

test('nothing is created for a refused path', () => {
  const object = {};
  assert.throws(() => setPath(object, 'x.y.__proto__.z', 1));
  assert.deepEqual(object, {});
});

test('merges recursively and replaces the rest', () => {
  const base = { a: { x: 1, y: [1, 2], z: { q: 1 } }, b: 1, c: { d: 1 }, e: null };
  const extra = { a: { y: [3], z: null, w: undefined }, b: { f: 1 }, c: 5, e: { g: 1 } };
  const copies = [structuredClone(base), structuredClone(extra)];
  const merged = merge(base, extra);
  assert.deepEqual(merged, { a: { x: 1, y: [3], z: null }, b: { f: 1 }, c: 5, e: { g: 1 } });
  assert.ok(!('w' in merged.a));
  assert.deepEqual([base, extra], copies);
});

test('shares nothing with its arguments', () => {
  const base = { a: { list: [{ x: 1 }] }, only: { y: 1 } };
  const extra = { b: { list: [[1]], o: { z: 1 } } };
  const merged = merge(base, extra);
  merged.a.list[0].x = 2;
  merged.only.y = 2;
  merged.b.list[0].push(2);
  merged.b.o.z = 2;
  assert.deepEqual(base, { a: { list: [{ x: 1 }] }, only: { y: 1 } });
  assert.deepEqual(extra, { b: { list: [[1]], o: { z: 1 } } });
});

test('a list over an object, and the reverse', () => {
  assert.deepEqual(merge({ a: [1] }, { a: { 0: 2 } }), { a: { 0: 2 } });
  assert.deepEqual(merge({ a: { x: 1 } }, { a: [2] }), { a: [2] });
});

test('inherited keys of the input are not merged', () => {
  assert.deepEqual(Object.keys(merge({}, Object.create({ inherited: 1 }))), []);
});

test('paths', () => {
  const object = { a: { b: 1 }, list: [1], n: null };
  setPath(object, 'a.c.d', 2);
  setPath(object, 'top', 3);
  assert.deepEqual(object, { a: { b: 1, c: { d: 2 } }, list: [1], n: null, top: 3 });
  for (const path of ['a.b.x', 'list.x', 'n.x']) assert.throws(() => setPath(object, path, 1), Error, path);
  assert.equal(getPath(object, 'a.c.d'), 2);
  for (const path of ['toString', 'a.constructor', 'a.b.toFixed', 'list.length.x', 'missing.x']) {
    assert.equal(getPath(object, path), undefined, path);
  }
});
