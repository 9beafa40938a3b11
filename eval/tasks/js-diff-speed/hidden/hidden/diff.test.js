import { test } from 'node:test';
import assert from 'node:assert/strict';
import { dedupe } from '../src/dedupe.js';
import { diffRecords } from '../src/diff.js';

/** The old, slow algorithm. */
function slowDiff(before, after) {
  const unique = (list) => list.filter((r, i) => list.findIndex(({ id }) => id === r.id) === i);
  const [old, current] = [unique(before), unique(after)];
  const changed = current.flatMap((record) => {
    const previous = old.find(({ id }) => id === record.id);
    if (!previous) return [];
    const fields = [...new Set([...Object.keys(previous), ...Object.keys(record)])]
      .filter((n) => !(n in previous) || !(n in record) || !Object.is(previous[n], record[n])).sort();
    return fields.length ? [{ id: record.id, fields }] : [];
  });
  return {
    added: current.filter((r) => !old.some(({ id }) => id === r.id)),
    removed: old.filter((r) => !current.some(({ id }) => id === r.id)),
    changed,
  };
}

test('same results as before on generated lists', () => {
  let seed = 5;
  const next = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const values = [1, '1', 0, -0, NaN, undefined, null];
  const list = () => Array.from({ length: next(12) }, () => {
    const record = { id: next(2) ? next(6) : String(next(6)) };
    for (const name of ['b', 'a', 'c']) if (next(2)) record[name] = values[next(values.length)];
    return record;
  });
  for (let round = 0; round < 2000; round += 1) {
    const [before, after] = [list(), list()];
    const copies = structuredClone([before, after]);
    assert.deepEqual(diffRecords(before, after), slowDiff(before, after));
    assert.deepEqual([before, after], copies);
  }
});

test('ids keep their type', () => {
  assert.deepEqual(dedupe([{ id: 1 }, { id: '1' }, { id: 1, x: 1 }]), [{ id: 1 }, { id: '1' }]);
  const proto = diffRecords([{ id: '__proto__', a: 1 }], [{ id: '__proto__', a: 2 }, { id: 'constructor' }]);
  assert.deepEqual(proto, { added: [{ id: 'constructor' }], removed: [], changed: [{ id: '__proto__', fields: ['a'] }] });
});

test('large lists', () => {
  const size = 300_000;
  const before = Array.from({ length: size }, (_, id) => ({ id, a: id, b: 1 }));
  const after = Array.from({ length: size }, (_, n) => ({ id: size + 1000 - n, a: n % 2 ? size + 1000 - n : 0, b: 1 }));
  const startedAt = performance.now();
  const { added, removed } = diffRecords(before, [...after, ...after]);
  assert.deepEqual([added.length, removed.length], [1001, 1001]);
  assert.ok(performance.now() - startedAt < 5000);
});

test('records with many fields', () => {
  const wide = (shift) => ({ id: 'w', ...Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`f${n + shift}`, n + shift])) });
  const startedAt = performance.now();
  const { changed } = diffRecords([wide(0)], [wide(1)]);
  assert.deepEqual(changed, [{ id: 'w', fields: ['f0', 'f20000'] }]);
  assert.ok(performance.now() - startedAt < 3000);
});
