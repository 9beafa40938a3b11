import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget, type Reservation } from '../../src/engine/budget.ts';

function budget(tokens: number | null, parent: Budget | null = null): Budget {
  return new Budget(
    { tokens: tokens === null ? null : { limit: 'max_tokens', value: tokens }, costUsd: null },
    parent,
  );
}

const tokens = (count: number) => ({ tokens: count, costUsd: 0 });

describe('Budget', () => {
  it('names the limit, its value and what is used', () => {
    const tight = budget(100);
    const first = tight.reserve(tokens(80));
    expect(first.ok).toBe(true);
    expect(tight.reserve(tokens(21))).toEqual({
      ok: false,
      hit: { limit: 'max_tokens', value: 100, used: 80 },
    });
  });

  it('counts what a child holds in its ancestors', () => {
    const tree = budget(100);
    const one = budget(null, tree);
    const other = budget(1000, tree);
    expect(one.reserve(tokens(60)).ok).toBe(true);
    expect(other.reserve(tokens(60)).ok).toBe(false);
    expect(other.reserve(tokens(40)).ok).toBe(true);
  });

  it('bounds cost as it bounds tokens', () => {
    const dollars = new Budget(
      { tokens: null, costUsd: { limit: 'tree_cost_usd', value: 1 } },
      null,
    );
    expect(dollars.reserve({ tokens: 5, costUsd: 0.9 }).ok).toBe(true);
    expect(dollars.reserve({ tokens: 5, costUsd: 0.2 })).toEqual({
      ok: false,
      hit: { limit: 'tree_cost_usd', value: 1, used: 0.9 },
    });
  });

  it('never lets reservations that are settled within their size exceed it, at any depth', () => {
    const step = fc.record({
      child: fc.nat(2),
      size: fc.integer({ min: 1, max: 60 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      end: fc.constantFrom('settle', 'release', 'twice', 'hold'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const limit = 200;
        const tree = budget(limit);
        const middle = budget(150, tree);
        const leaves = [budget(null, tree), budget(100, middle), budget(null, middle)];
        let spent = 0;
        let held = 0;
        for (const { child, size, share, end } of steps) {
          const result = leaves[child]?.reserve(tokens(size));
          if (result?.ok !== true) continue;
          const used = Math.floor(size * share);
          if (end === 'hold') held += size;
          else spent += finish(result.reservation, end, used);
          expect(spent + held).toBeLessThanOrEqual(limit);
        }
        const left = limit - spent - held;
        expect(tree.reserve(tokens(left)).ok).toBe(true);
        expect(tree.reserve(tokens(1)).ok).toBe(false);
      }),
    );
  });
});

function finish(reservation: Reservation, end: 'settle' | 'release' | 'twice', used: number) {
  if (end === 'release') {
    reservation.release();
    return 0;
  }
  reservation.settle(tokens(used));
  if (end === 'twice') {
    reservation.settle(tokens(used));
    reservation.release();
  }
  return used;
}
