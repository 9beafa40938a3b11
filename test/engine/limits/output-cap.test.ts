import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget, NO_EXPENSE, requestExpense } from '../../../src/engine/limits/budget.ts';
import { minimumExpense, estimateRequestNeed } from '../../../src/engine/limits/estimate.ts';
import {
  decideOutput,
  minimumOutput,
  type BudgetRoom,
  type OutputDemand,
} from '../../../src/engine/limits/output-cap.ts';

const MOST = 32_000;

function tokenRoom(remaining: number, of: Partial<BudgetRoom> = {}): BudgetRoom {
  const { inputCost = 5_000 } = of;
  return {
    remaining,
    held: 0,
    inputCost,
    outputTokenCost: 1,
    nextRequest: inputCost + 2_048,
    isShared: false,
    ...of,
  };
}

const granted = (tokens: number, loweredBy: number | null = 0) => ({
  kind: 'granted',
  tokens,
  loweredBy,
});

describe('the output cap of one request', () => {
  it.each<[string, readonly BudgetRoom[], OutputDemand['kind'], object]>([
    ['no limit', [], 'turn', granted(MOST, null)],
    ['a distant limit', [tokenRoom(1_000_000)], 'turn', granted(MOST, null)],
    ['half of the free part', [tokenRoom(50_000)], 'turn', granted(18_976)],
    [
      'a quarter of it, above the task',
      [tokenRoom(50_000, { isShared: true })],
      'turn',
      granted(9_488),
    ],
    ['all of the free part, for the last answer', [tokenRoom(20_000)], 'last', granted(15_000)],
    ['a normal answer', [tokenRoom(14_000)], 'turn', granted(4_096)],
    ['less than a normal answer', [tokenRoom(8_000)], 'turn', granted(3_000)],
    ['the smallest useful answer', [tokenRoom(7_048)], 'turn', granted(2_048)],
    [
      'less than the smallest useful answer',
      [tokenRoom(7_047)],
      'turn',
      { kind: 'refused', room: 0, minTokens: 2_048 },
    ],
    [
      'less than the input',
      [tokenRoom(4_000)],
      'last',
      { kind: 'refused', room: 0, minTokens: 2_048 },
    ],
    [
      'the lowest of two',
      [tokenRoom(50_000), tokenRoom(20_000, { isShared: true })],
      'turn',
      granted(4_096, 1),
    ],
    [
      'a limit that others have reserved from',
      [tokenRoom(50_000, { held: 40_000 })],
      'turn',
      granted(4_096),
    ],
    [
      'what others hold, too much of it',
      [tokenRoom(50_000, { held: 42_000 })],
      'turn',
      { kind: 'wait', room: 0 },
    ],
    [
      'dollars',
      [tokenRoom(1, { inputCost: 0.5, nextRequest: 0.1, outputTokenCost: 1e-5 })],
      'turn',
      granted(20_000),
    ],
    [
      'output without a price',
      [tokenRoom(1, { inputCost: 0.5, outputTokenCost: 0 })],
      'turn',
      granted(MOST, null),
    ],
    ['a repeat with room', [tokenRoom(37_000)], 'repeat', granted(MOST, null)],
    [
      'a repeat without room',
      [tokenRoom(36_999)],
      'repeat',
      { kind: 'refused', room: 0, minTokens: MOST },
    ],
    [
      'a repeat that waits',
      [tokenRoom(40_000, { held: 4_000 })],
      'repeat',
      { kind: 'wait', room: 0 },
    ],
  ])('%s', (_, rooms, kind, expected) => {
    expect(decideOutput(rooms, { maxTokens: MOST, kind })).toEqual(expected);
  });

  it('never asks a model with a low limit for more than that limit', () => {
    expect(decideOutput([tokenRoom(5_100)], { maxTokens: 100, kind: 'turn' })).toEqual(
      granted(100, null),
    );
    expect(decideOutput([tokenRoom(5_099)], { maxTokens: 100, kind: 'turn' }).kind).toBe('refused');
  });
});

const amount = fc.integer({ min: 0, max: 100_000 });
const anyRoom: fc.Arbitrary<BudgetRoom> = fc.record({
  remaining: amount,
  held: amount,
  inputCost: amount,
  outputTokenCost: fc.constantFrom(0, 1, 3),
  nextRequest: amount,
  isShared: fc.boolean(),
});
const anyDemand: fc.Arbitrary<OutputDemand> = fc.record({
  maxTokens: fc.integer({ min: 1, max: 64_000 }),
  kind: fc.constantFrom('turn', 'last', 'repeat'),
});

describe('with any budget', () => {
  it('a request never takes more than the free part, gets a useful answer, and at most what it asked for', () => {
    fc.assert(
      fc.property(fc.array(anyRoom, { maxLength: 3 }), anyDemand, (rooms, demand) => {
        const decision = decideOutput(rooms, demand);
        if (decision.kind !== 'granted') return;
        const { tokens } = decision;
        expect(tokens).toBeGreaterThanOrEqual(minimumOutput(demand));
        expect(tokens).toBeLessThanOrEqual(demand.maxTokens);
        for (const { remaining, held, inputCost, outputTokenCost } of rooms) {
          expect(inputCost + tokens * outputTokenCost).toBeLessThanOrEqual(
            outputTokenCost === 0 ? remaining : remaining - held,
          );
        }
      }),
    );
  });

  it('the cap does not grow when less remains', () => {
    fc.assert(
      fc.property(
        fc.array(anyRoom, { minLength: 1, maxLength: 3 }),
        anyDemand,
        amount,
        (rooms, demand, less) => {
          const fewer = rooms.map((room) => ({ ...room, remaining: room.remaining - less }));
          const [before, after] = [decideOutput(rooms, demand), decideOutput(fewer, demand)];
          if (after.kind !== 'granted') return;
          expect(before).toMatchObject({ kind: 'granted' });
          if (before.kind === 'granted') expect(after.tokens).toBeLessThanOrEqual(before.tokens);
        },
      ),
    );
  });

  it('a request is refused only when the full remaining part of a limit allows no useful answer', () => {
    fc.assert(
      fc.property(fc.array(anyRoom, { maxLength: 3 }), anyDemand, (rooms, demand) => {
        const least = minimumOutput(demand);
        const isPoor = rooms.some(
          ({ remaining, inputCost, outputTokenCost }) =>
            inputCost + least * outputTokenCost > remaining,
        );
        expect(decideOutput(rooms, demand).kind === 'refused').toBe(isPoor);
      }),
    );
  });
});

const never = new AbortController().signal;
const FACTS = { maxOutput: MOST, price: null };

function budget(value: number, parent: Budget | null = null): Budget {
  return new Budget(
    { tokens: { limit: parent === null ? 'tree_tokens' : 'max_tokens', value } },
    parent,
  );
}

describe('Budget.reserveRequest', () => {
  it('names the limit that lowered the cap', async () => {
    const tree = budget(50_000);
    tree.addEarlierUse({ ...NO_EXPENSE, tokens: 10_000 });
    const reserved = await budget(500_000, tree).reserveRequest(
      estimateRequestNeed(5_000, FACTS),
      never,
    );
    expect(reserved).toMatchObject({
      ok: true,
      outputCap: { tokens: 6_988, limit: 'tree_tokens', value: 50_000, used: 10_000 },
    });
  });

  it('lets parallel children share the limit of a tree, and never use more together', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1_000, max: 120_000 }),
        fc.array(
          fc.record({
            input: fc.integer({ min: 100, max: 8_000 }),
            share: fc.double({ min: 0, max: 1, noNaN: true }),
          }),
          {
            minLength: 1,
            maxLength: 12,
          },
        ),
        async (value, children) => {
          const tree = budget(value);
          let used = 0;
          await Promise.all(
            children.map(async ({ input, share }) => {
              const own = budget(50_000, tree);
              const need = estimateRequestNeed(input, FACTS);
              const reserved = await own.reserveRequest(need, never);
              if (!reserved.ok) {
                expect(
                  tree.findExceededCap(minimumExpense(need)) ??
                    own.findExceededCap(minimumExpense(need)),
                ).not.toBeNull();
                return;
              }
              await Promise.resolve();
              const tokens = Math.floor((reserved.outputCap?.tokens ?? MOST) * share);
              used += input + tokens;
              reserved.reservation.settle(requestExpense(need, tokens));
            }),
          );
          expect(used).toBeLessThanOrEqual(value);
          expect(tree.findExceededCap({ ...NO_EXPENSE, tokens: value - used })).toBeNull();
        },
      ),
    );
  });

  it('leaves room for a request that is sent next to another one', async () => {
    const tree = budget(60_000);
    const first = await budget(500_000, tree).reserveRequest(
      estimateRequestNeed(5_000, FACTS),
      never,
    );
    const second = await budget(500_000, tree).reserveRequest(
      estimateRequestNeed(5_000, FACTS),
      never,
    );
    expect([first.ok, second.ok]).toEqual([true, true]);
  });

  it('leaves room for the last answer of a task whose previous answer reached its cap', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 30_000, max: 400_000 }),
        fc.integer({ min: 500, max: 10_000 }),
        async (value, input) => {
          const own = budget(value);
          const reserved = await own.reserveRequest(estimateRequestNeed(input, FACTS), never);
          if (!reserved.ok || reserved.outputCap === null || reserved.outputCap.tokens <= 4_096)
            return;
          const { tokens } = reserved.outputCap;
          reserved.reservation.settle({ ...NO_EXPENSE, tokens: input + tokens, turns: 1 });
          const last = estimateRequestNeed(input + tokens, FACTS, { output: { kind: 'last' } });
          expect(own.findExceededCap(minimumExpense(last))).toBeNull();
        },
      ),
    );
  });
});
