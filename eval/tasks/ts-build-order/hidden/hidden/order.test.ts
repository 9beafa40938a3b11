import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affected, buildOrder, CycleError, UnknownTargetError, type Targets } from '../src/order.ts';

const record = (entries: readonly (readonly [string, readonly string[]])[]): Targets => {
  const targets = Object.create(null);
  for (const [name, needs] of entries) targets[name] = needs;
  return targets;
};

test('the earliest batch, sorted by code units', () => {
  assert.deepEqual(buildOrder({}), []);
  assert.deepEqual(buildOrder({ b: [], a: [], Z: [], 'é': [], 'z10': [], z9: [] }), [['Z', 'a', 'b', 'z10', 'z9', 'é']]);
  assert.deepEqual(buildOrder({ d: ['c', 'a'], c: ['b'], b: ['a', 'a'], a: [], e: ['a'] }), [['a'], ['b', 'e'], ['c'], ['d']]);
  assert.deepEqual(buildOrder({ 10: ['9'], 9: [] }), [['9'], ['10']]);
});

test('names that objects have themselves', () => {
  const targets = record([['__proto__', ['constructor', '']], ['constructor', []], ['', []]]);
  assert.deepEqual(buildOrder(targets), [['', 'constructor'], ['__proto__']]);
  assert.deepEqual(affected(targets, ['']), ['', '__proto__']);
  assert.throws(() => buildOrder({ a: ['toString'] }), (thrown: unknown) => thrown instanceof UnknownTargetError && thrown.missing === 'toString' && thrown.target === 'a');
  assert.deepEqual(affected({ a: [] }, ['toString', 'nothing']), []);
});

test('unknown targets come first', () => {
  const targets = { z: ['no1'], c: ['c', 'no2', 'no0'], b: ['c'] };
  assert.throws(() => buildOrder(targets), (thrown: unknown) => thrown instanceof UnknownTargetError && thrown.target === 'c' && thrown.missing === 'no2');
});

function cycleOf(targets: Targets): readonly string[] {
  try {
    buildOrder(targets);
  } catch (thrown) {
    assert.ok(thrown instanceof CycleError);
    const { cycle } = thrown;
    assert.ok(cycle.length > 0);
    cycle.forEach((name, index) => assert.ok(targets[name].includes(cycle[(index + 1) % cycle.length])));
    assert.equal(new Set(cycle).size, cycle.length);
    assert.equal([...cycle].sort()[0], cycle[0]);
    return cycle;
  }
  assert.fail('no cycle was found');
}

test('cycles', () => {
  assert.deepEqual(cycleOf({ a: ['a'] }), ['a']);
  assert.deepEqual(cycleOf({ x: ['c'], c: ['b'], b: ['a'], a: ['c'], y: ['x'] }), ['a', 'c', 'b']);
  cycleOf({ a: ['b', 'c'], b: ['d'], c: ['d'], d: ['e'], e: ['c'], f: ['a'] });
  let seed = 1;
  const random = (limit: number) => (seed = (seed * 48271) % 2147483647) % limit;
  for (let round = 0; round < 300; round += 1) {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
    const entries = names.map((name) => [name, names.filter(() => random(4) === 0)] as const);
    const targets = record([...entries, ['n0', ['n1']], ['n1', ['n0']]]);
    cycleOf(targets);
  }
});

test('affected targets, with cycles', () => {
  const targets = { a: ['b'], b: ['a'], c: ['b'], d: [], e: ['d', 'c'] };
  assert.deepEqual(affected(targets, ['a']), ['a', 'b', 'c', 'e']);
  assert.deepEqual(affected(targets, ['d']), ['d', 'e']);
  assert.deepEqual(affected(targets, []), []);
  assert.deepEqual(affected({ a: ['missing'] }, ['missing']), []);
});

test('large graphs', () => {
  const count = 100_000;
  const chain = record(Array.from({ length: count }, (_, index) => [`t${index}`, index === 0 ? [] : [`t${index - 1}`]] as const));
  const wide = record(Array.from({ length: count }, (_, index) => [`t${index}`, index === 0 ? [] : ['t0', `t${index >> 1}`]] as const).map(([name, needs]) => [name, needs.filter((need) => need !== name)] as const));
  const before = performance.now();
  assert.equal(buildOrder(chain).length, count);
  assert.equal(buildOrder(wide).flat().length, count);
  assert.equal(affected(chain, ['t0']).length, count);
  const ring = record([...Object.entries(chain).slice(1), ['t0', [`t${count - 1}`]]]);
  assert.equal(cycleOf(ring).length, count);
  assert.ok(performance.now() - before < 15_000);
});

test('the input stays as it is', () => {
  const targets = Object.freeze({ b: Object.freeze(['a']), a: Object.freeze([]) });
  assert.deepEqual(buildOrder(targets), [['a'], ['b']]);
});
