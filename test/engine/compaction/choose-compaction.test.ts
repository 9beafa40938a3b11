import { expect, test } from 'vitest';
import {
  chooseCompaction,
  inputRoom,
  compactionTrigger,
  type WindowLimits,
} from '../../../src/engine/compaction/choose-compaction.ts';
import type { ResultLayout, ContextLayout } from '../../../src/engine/compaction/context-layout.ts';

const LIMITS: WindowLimits = { window: 11_000, output: 1_000, compactAt: 0.8 };
const CALM = { failures: 0, sinceAnswer: 0, hasOverflowed: false };

function results(...tokens: readonly number[]): readonly ResultLayout[] {
  return tokens.map((each, index) => ({
    callId: `c${index}`,
    tool: 'Read',
    characters: each * 4,
    shown: [],
    tokens: each,
    age: tokens.length - 1 - index,
    isWaiting: false,
  }));
}

/** Creates a layout with this total size and number of turns, after a prefix and a prompt. */
function layout(size: number, turns: number, laid: readonly ResultLayout[] = []): ContextLayout {
  const each = (size - 1_000) / turns;
  return {
    size,
    waiting: 0,
    said: 100,
    turns: Array.from({ length: turns }, (_, index) => ({
      from: 1 + 2 * index,
      before: 100 + each * index,
      rest: each * (turns - index),
    })),
    results: laid,
  };
}

test.each<[string, WindowLimits, number | null]>([
  ['a share of the space that is left next to the answer', LIMITS, 8_000],
  ['tokens', { ...LIMITS, compactAt: 5_000 }, 5_000],
  ['tokens above the window', { ...LIMITS, compactAt: 50_000 }, 10_000],
  ['an answer as large as the window', { ...LIMITS, output: 11_000, compactAt: 1 }, 5_500],
  ['no window', { ...LIMITS, window: null }, null],
])('compaction starts at the right size: %s', (_, limits, trigger) => {
  expect(compactionTrigger(limits)).toBe(trigger);
  expect(inputRoom(11_000, 1_000)).toBe(10_000);
});

const OLD = results(1_000, 2_000, 3_000, 500, 500, 500);

test.each<[string, ContextLayout, Partial<typeof CALM>, object]>([
  ['room enough', layout(8_000, 10, OLD), {}, { kind: 'none' }],
  [
    'the oldest results that suffice are cleared',
    layout(8_001, 6, OLD),
    {},
    { kind: 'clear', results: OLD.slice(0, 3) },
  ],
  [
    'results of the newest turns and of subagents are not cleared',
    layout(8_001, 6, [
      ...results(6_000, 100, 100, 100).map((each) => Object.assign(each, { tool: 'Task' })),
      ...results(200, 200, 200),
    ]),
    {},
    { kind: 'summarise' },
  ],
  [
    'the beginning is summarized if clearing is not enough',
    layout(9_000, 20),
    {},
    { kind: 'summarise', upTo: 31, freed: 4_500 },
  ],
  ['after one that was refused', layout(9_000, 20), { failures: 1 }, { kind: 'summarise' }],
  ['after two', layout(9_000, 20), { failures: 2 }, { kind: 'drop', upTo: 31 }],
  ['one turn only, and it fits', layout(9_000, 1), {}, { kind: 'none' }],
  [
    'one turn only, and it does not',
    layout(12_000, 1, results(9_000)),
    {},
    { kind: 'clear', results: results(9_000) },
  ],
  [
    'a result that the model has not seen yet stays if it fits',
    layout(9_000, 1, results(6_000)),
    {},
    { kind: 'none' },
  ],
  ['nothing to remove', layout(12_000, 1), {}, { kind: 'stuck' }],
  ['too often in a row, and it fits', layout(9_000, 20), { sinceAnswer: 4 }, { kind: 'none' }],
  ['too often, and it does not', layout(12_000, 20), { sinceAnswer: 4 }, { kind: 'stuck' }],
  [
    'refused though it seemed to fit',
    layout(4_000, 20, []),
    { hasOverflowed: true },
    { kind: 'summarise' },
  ],
])('%s', (_, laid, history, expected) => {
  const choice = chooseCompaction(laid, LIMITS, { ...CALM, ...history }, null);
  expect(choice).toMatchObject(expected);
});

test('without a known window only a refusal counts, and without budget nothing is summarized', () => {
  const unknown = { ...LIMITS, window: null };
  expect(chooseCompaction(layout(90_000, 20), unknown, CALM, null)).toEqual({ kind: 'none' });
  expect(chooseCompaction(layout(9_000, 20), LIMITS, CALM, 'the limit is reached')).toMatchObject({
    kind: 'drop',
    because: 'the limit is reached',
  });
});
