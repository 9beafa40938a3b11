import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestQueue, type QueuedRequest } from '../../../src/model/limiter/request-queue.ts';

interface One extends QueuedRequest {
  readonly name: string;
}

let order = 0;

function one(name: string, tree: string, { background = false, since = 0 } = {}): One {
  order += 1;
  return { name, priority: { tree, background }, order, waitingSince: since };
}

function takeAll(line: RequestQueue<One>, now: number): readonly string[] {
  const names: string[] = [];
  for (let next = line.next(now); next !== undefined; next = line.next(now)) {
    expect(line.take(now)).toBe(next);
    names.push(next.name);
  }
  return names;
}

describe('the next request', () => {
  it('is of each tree in turn, and the first of its tree', () => {
    const line = new RequestQueue<One>();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'c1'])
      line.add(one(name, name.slice(0, 1)));
    expect(takeAll(line, 0)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('a refused request returns to its position', () => {
    const line = new RequestQueue<One>();
    const [first, second, third] = [one('1', 'a'), one('2', 'a'), one('3', 'a')];
    for (const each of [second, third, first]) line.add(each);
    expect(takeAll(line, 0)).toEqual(['1', '2', '3']);
  });

  it('foreground requests come before fifty background requests', () => {
    const line = new RequestQueue<One>();
    for (let n = 0; n < 50; n += 1) line.add(one(`back ${n}`, 'a', { background: true }));
    line.add(one('front', 'a'));
    expect(takeAll(line, 1_000)[0]).toBe('front');
  });

  it('a background request that has waited long gets one slot of four', () => {
    const line = new RequestQueue<One>();
    for (let n = 1; n <= 8; n += 1) line.add(one(`f${n}`, 'a'));
    for (let n = 1; n <= 2; n += 1) line.add(one(`b${n}`, 'a', { background: true }));
    expect(takeAll(line, 10_000)).toEqual([
      'f1',
      'f2',
      'f3',
      'b1',
      'f4',
      'f5',
      'f6',
      'b2',
      'f7',
      'f8',
    ]);
  });

  it('a removed request is never next', () => {
    const line = new RequestQueue<One>();
    const [first, second] = [one('1', 'a'), one('2', 'b')];
    line.add(first);
    line.add(second);
    line.remove(first);
    line.remove(first);
    expect([line.size, ...takeAll(line, 0)]).toEqual([1, '2']);
    expect(line.take(0)).toBeUndefined();
  });
});

it('each request is taken exactly once, in order within its tree and kind', () => {
  const arrival = fc.record({
    tree: fc.constantFrom('a', 'b', 'c'),
    background: fc.boolean(),
    takes: fc.nat(2),
  });
  fc.assert(
    fc.property(fc.array(arrival), (arrivals) => {
      const line = new RequestQueue<One>();
      const taken: One[] = [];
      const take = (): void => {
        const next = line.take(0);
        if (next !== undefined) taken.push(next);
      };
      for (const { takes, tree, ...rest } of arrivals) {
        line.add(one('', tree, rest));
        for (let n = 0; n < takes; n += 1) take();
      }
      while (line.size > 0) take();
      expect(new Set(taken).size).toBe(arrivals.length);
      const kinds = Map.groupBy(taken, ({ priority: lane }) => `${lane.tree} ${lane.background}`);
      for (const ofKind of kinds.values()) {
        const orders = ofKind.map((each) => each.order);
        expect(orders).toEqual(orders.toSorted((a, b) => a - b));
      }
    }),
  );
});
