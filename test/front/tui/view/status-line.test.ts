import { assert, nat, option, property, record, string } from 'fast-check';
import { expect, it } from 'vitest';
import { visibleWidth } from '../../../../src/front/tui/view/fit.ts';
import {
  fitStatus,
  fitStatusAndHints,
  type StatusFacts,
} from '../../../../src/front/tui/view/status-line.ts';

const FACTS: StatusFacts = {
  directory: 'project',
  branch: 'feature/retries',
  model: 'anthropic/claude-sonnet-5',
  effort: 'high',
  context: { percent: 34, window: 200_000 },
  use: '$0.12',
};

it.each([
  [200, 'project (feature/retries) · anthropic/claude-sonnet-5 · high · 34 % of 200k · $0.12'],
  [82, 'project (feature/retries) · claude-sonnet-5 · high · 34 % of 200k · $0.12'],
  [72, 'project (feature/retries) · claude-sonnet-5 · high · 34 % · $0.12'],
  [64, 'project (feature/retries) · claude-sonnet-5 · 34 % · $0.12'],
  [57, 'project (feature/ret…) · claude-sonnet-5 · 34 % · $0.12'],
  [54, 'project · claude-sonnet-5 · 34 % · $0.12'],
  [39, 'claude-sonnet-5 · 34 % · $0.12'],
  [29, '34 % · $0.12'],
  [11, '$0.12'],
  [4, ''],
  [0, ''],
])('shortens the facts to %i columns', (room, text) => {
  expect(fitStatus(FACTS, room)).toBe(text);
});

it.each([
  [{ branch: null }, 'project · anthropic/claude-sonnet-5 · high · 34 % of 200k · $0.12'],
  [
    { effort: null, context: null, use: null },
    'project (feature/retries) · anthropic/claude-sonnet-5',
  ],
  [
    { context: { percent: 3, window: 1_048_576 }, use: '12.3k tok' },
    'project (feature/retries) · anthropic/claude-sonnet-5 · high · 3 % of 1M · 12.3k tok',
  ],
] as const)('leaves out what is not known: %j', (change, text) => {
  expect(fitStatus({ ...FACTS, ...change }, 200)).toBe(text);
});

const BUSY = ['esc stop', 'ctrl+t tasks', 'ctrl+b background'];

it.each([
  [
    140,
    'project (feature/retries) · anthropic/claude-sonnet-5 · high · 34 % of 200k · $0.12',
    BUSY,
  ],
  [110, 'project (feature/retries) · claude-sonnet-5 · high · 34 % · $0.12', BUSY],
  [
    90,
    'project (feature/retries) · claude-sonnet-5 · high · 34 % · $0.12',
    ['esc stop', 'ctrl+t tasks'],
  ],
  [73, 'project (feature/retries) · claude-sonnet-5 · high · 34 % · $0.12', ['esc stop']],
  [65, 'project (feature/ret…) · claude-sonnet-5 · 34 % · $0.12', ['esc stop']],
  [50, 'project · claude-sonnet-5 · 34 % · $0.12', ['esc stop']],
  [38, 'claude-sonnet-5 · 34 % · $0.12', ['esc stop']],
  [35, 'claude-sonnet-5 · 34 % · $0.12', []],
  [24, '34 % · $0.12', ['esc stop']],
  [14, '$0.12', ['esc stop']],
  [10, '', ['esc stop']],
  [0, '', []],
] as const)('fits the facts and the hints into %i columns', (room, text, hints) => {
  expect(fitStatusAndHints(FACTS, BUSY, room)).toEqual({ facts: text, hints: hints.join(' · ') });
});

it.each([
  [90, 'project (feature/retries) · claude-sonnet-5 · high · 34 % · $0.12', 2],
  [80, 'project (feature/ret…) · claude-sonnet-5 · 34 % · $0.12', 2],
  [73, 'project · claude-sonnet-5 · 34 % · $0.12', 2],
  [60, 'project · claude-sonnet-5 · 34 % · $0.12', 1],
])('keeps two hints before the branch where both matter, in %i columns', (room, text, count) => {
  expect(fitStatusAndHints(FACTS, BUSY, room, 2)).toEqual({
    facts: text,
    hints: BUSY.slice(0, count).join(' · '),
  });
});

it('leaves out a count of tokens before the branch, and a cost after the directory', () => {
  expect(fitStatus({ ...FACTS, use: '12.3k tok' }, 52)).toBe(
    'project (feature/ret…) · claude-sonnet-5 · 34 %',
  );
});

it('never takes more room than there is', () => {
  const name = string({ unit: 'grapheme', minLength: 1, maxLength: 80 });
  assert(
    property(
      record({ directory: name, branch: option(name), model: name, effort: option(name) }),
      nat(120),
      (names, room) => {
        expect(visibleWidth(fitStatus({ ...FACTS, ...names }, room))).toBeLessThanOrEqual(room);
        const { facts, hints } = fitStatusAndHints({ ...FACTS, ...names }, BUSY, room);
        expect(visibleWidth(facts) + visibleWidth(hints)).toBeLessThanOrEqual(room);
      },
    ),
  );
});
