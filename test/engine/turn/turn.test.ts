import { expect, it } from 'vitest';
import { findDueNotices } from '../../../src/engine/turn/turn.ts';

const MAX = { limit: 'max_turns', value: 10 };
const none = new Set<string>();

it.each([
  ['less than half', 4, none, []],
  ['half', 5, none, ['budget-2-max_turns-50']],
  ['half, notified before', 6, new Set(['budget-2-max_turns-50']), []],
  [
    'half, notified in an earlier activation',
    6,
    new Set(['budget-1-max_turns-50']),
    ['budget-2-max_turns-50'],
  ],
  ['80 % after half', 8, new Set(['budget-2-max_turns-50']), ['budget-2-max_turns-80']],
  ['80 % at once', 8, none, ['budget-2-max_turns-80']],
  ['more after a notice about 80 %', 9, new Set(['budget-2-max_turns-80']), []],
])('%s', (_, used, sentIds, ids) => {
  expect(
    findDueNotices([{ ...MAX, used }], { activation: 2, sentIds }).map(({ id }) => id),
  ).toEqual(ids);
});

it('names the limit, its value and the used amount in few digits', () => {
  const uses = [
    { ...MAX, used: 5 },
    { limit: 'tree_cost_usd', value: 0.5, used: 0.412_345_678 },
  ];
  expect(findDueNotices(uses, { activation: 0, sentIds: none })).toEqual([
    { id: 'budget-0-max_turns-50', text: '50 % of max_turns = 10 is used (5).' },
    {
      id: 'budget-0-tree_cost_usd-80',
      text: '80 % of tree_cost_usd = 0.5 is used (0.4123). Bring the task to its end.',
    },
  ]);
});
