import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Budget,
  NO_EXPENSE,
  type BudgetCaps,
  type Expense,
} from '../../../src/engine/limits/budget.ts';

function budget(tokens: number | null, parent: Budget | null = null): Budget {
  return new Budget(
    tokens === null ? {} : { tokens: { limit: 'max_tokens', value: tokens } },
    parent,
  );
}

const tokens = (count: number): Expense => ({ ...NO_EXPENSE, tokens: count });
const never = new AbortController().signal;

async function held(from: Budget, count: number) {
  const result = await from.reserve(tokens(count), never);
  if (!result.ok) throw new Error(`no room: ${JSON.stringify(result.hit)}`);
  return result.reservation;
}

describe('Budget', () => {
  it('names the limit, its value and the used amount', async () => {
    const tight = budget(100);
    (await held(tight, 80)).settle(tokens(60));
    expect(await tight.reserve(tokens(41), never)).toEqual({
      ok: false,
      hit: { limit: 'max_tokens', value: 100, used: 60, needed: 41 },
    });
  });

  it('waits when only the reservations of others are in the way, and then counts what they used', async () => {
    const tight = budget(100);
    const first = await held(tight, 80);
    const second = tight.reserve(tokens(60), never);
    const third = tight.reserve(tokens(60), never);
    first.settle(tokens(10));
    const two = await second;
    expect(two.ok).toBe(true);
    if (two.ok) two.reservation.settle(tokens(60));
    expect(await third).toEqual({
      ok: false,
      hit: { limit: 'max_tokens', value: 100, used: 70, needed: 60 },
    });
  });

  it('ends a wait when the task is stopped', async () => {
    const tight = budget(100);
    await held(tight, 80);
    const controller = new AbortController();
    const waiting = tight.reserve(tokens(60), controller.signal);
    controller.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });

  it('counts the usage of a child in its ancestors', async () => {
    const tree = budget(100);
    const one = budget(null, tree);
    const other = budget(1000, tree);
    (await held(one, 60)).settle(tokens(60));
    expect((await other.reserve(tokens(60), never)).ok).toBe(false);
    expect((await other.reserve(tokens(40), never)).ok).toBe(true);
  });

  it('limits cost in the same way as tokens', async () => {
    const dollars = new Budget({ costUsd: { limit: 'tree_cost_usd', value: 1 } }, null);
    const first = await dollars.reserve({ ...tokens(5), costUsd: 0.9 }, never);
    if (first.ok) first.reservation.settle({ ...tokens(5), costUsd: 0.9 });
    expect(await dollars.reserve({ ...tokens(5), costUsd: 0.2 }, never)).toEqual({
      ok: false,
      hit: { limit: 'tree_cost_usd', value: 1, used: 0.9, needed: 0.2 },
    });
  });

  it('reserves nothing when everything is settled, not even fractions of a dollar', async () => {
    const dollars = new Budget({ costUsd: { limit: 'tree_cost_usd', value: 1 } }, null);
    const cost = (costUsd: number): Expense => ({ ...NO_EXPENSE, costUsd });
    const all = await Promise.all(
      [0.1, 0.2, 0.3].map((each) => dollars.reserve(cost(each), never)),
    );
    for (const each of all) if (each.ok) each.reservation.settle(NO_EXPENSE);
    expect((await dollars.reserve(cost(1), never)).ok).toBe(true);
  });

  it('limits turns, and counts those that other tasks have begun', async () => {
    const two = new Budget({ turns: { limit: 'tree_turns', value: 2 } }, null);
    const turn: Expense = { ...NO_EXPENSE, turns: 1 };
    const first = await two.reserve(turn, never);
    const second = await two.reserve(turn, never);
    const third = two.reserve(turn, never);
    if (first.ok) first.reservation.settle(turn);
    if (second.ok) second.reservation.settle(turn);
    expect(await third).toEqual({ ok: false, hit: { limit: 'tree_turns', value: 2, used: 2 } });
  });

  it('grants as many bytes of tool results as all caps above it allow', () => {
    const bytes = (value: number): BudgetCaps => ({ toolBytes: { limit: 'bytes', value } });
    const tree = new Budget(bytes(10), null);
    const task = new Budget(bytes(8), tree);
    expect(task.useToolBytes(6)).toEqual({ granted: 6, hit: null });
    expect(task.usedUpToolBytesCap).toBe(null);
    expect(tree.useToolBytes(3)).toEqual({ granted: 3, hit: null });
    const hit = { limit: 'bytes', value: 10, used: 10 };
    expect(task.useToolBytes(2)).toEqual({ granted: 1, hit });
    expect(task.usedUpToolBytesCap).toEqual(hit);
  });

  it('is never overspent by parallel requests that stay within their reservations', async () => {
    const step = fc.record({
      child: fc.nat(2),
      size: fc.integer({ min: 1, max: 60 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      ticks: fc.nat(3),
      twice: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const limit = 200;
        const tree = budget(limit);
        const middle = budget(150, tree);
        const leaves = [budget(null, tree), budget(100, middle), budget(null, middle)] as const;
        let spent = 0;
        let refused = 0;
        await Promise.all(
          steps.map(async ({ child, size, share, ticks, twice }) => {
            const result = await leaves[child]?.reserve(tokens(size), never);
            if (result?.ok !== true) {
              refused += 1;
              return;
            }
            for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
            const used = Math.floor(size * share);
            spent += used;
            expect(spent).toBeLessThanOrEqual(limit);
            result.reservation.settle(tokens(used));
            if (twice) result.reservation.settle(tokens(used));
          }),
        );
        expect((await tree.reserve(tokens(limit - spent), never)).ok).toBe(true);
        if (spent + 60 <= 100) expect(refused).toBe(0);
      }),
    );
  });
});
