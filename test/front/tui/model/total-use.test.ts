import { expect, it } from 'vitest';
import { totalUse } from '../../../../src/front/tui/model/total-use.ts';
import { totalCost } from '../../../../src/front/tui/view/numbers.ts';
import { statusFacts } from '../../../../src/front/tui/view/status-line.ts';
import { CONTEXT, stateOf } from '../update/fixtures.ts';

/** The costs of a main task and of a child: known, and of the answers with a known price. */
type Costs = readonly (readonly [costUsd: number | null, pricedUsd: number])[];

it.each<readonly [string, Costs, string, string]>([
  [
    'all prices are known',
    [
      [0.25, 0.25],
      [0.05, 0.05],
    ],
    '$0.3000',
    '$0.30',
  ],
  [
    'the child has a model without a price',
    [
      [0.25, 0.25],
      [null, 0],
    ],
    '$0.2500+',
    '$0.25+',
  ],
  [
    'one answer has no price',
    [
      [null, 0.0123],
      [0, 0],
    ],
    '$0.0123+',
    '$0.0123+',
  ],
  [
    'no price is known',
    [
      [null, 0],
      [null, 0],
    ],
    '$?',
    '3.0k tok',
  ],
  [
    'nothing costs anything',
    [
      [0, 0],
      [0, 0],
    ],
    '$0.0000',
    '3.0k tok',
  ],
])('the cost if %s', (_, costs, cost, inStatusLine) => {
  const state = stateOf({}, { members: { main: {}, child: { parent: 'main' } } });
  const rows = [...state.tree.rows.values()];
  for (const [index, [costUsd, pricedUsd]] of costs.entries()) {
    const row = rows[index];
    if (row === undefined) throw new Error('there is a row for each cost');
    state.tree.rows.set(row.id, { ...row, costUsd, pricedUsd, tokens: 1_500, turns: 1 });
  }
  const total = totalUse(state.tree.rows.values());
  const shown = [total.turns, totalCost(total), statusFacts(state, CONTEXT.library).use];
  expect(shown).toEqual([2, cost, inStatusLine]);
});
