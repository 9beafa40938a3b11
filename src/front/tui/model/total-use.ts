import type { TreeTask } from './task-row.ts';

/** The use of several tasks. */
export interface TotalUse {
  readonly turns: number;
  readonly tokens: number;
  /** The cost of the answers with a known price, in USD. */
  readonly pricedUsd: number;
  /** Whether the price of every answer is known. */
  readonly isPriced: boolean;
}

/** Adds up the use of tasks. */
export function totalUse(rows: Iterable<TreeTask>): TotalUse {
  const total = { turns: 0, tokens: 0, pricedUsd: 0, isPriced: true };
  for (const row of rows) {
    total.turns += row.turns;
    total.tokens += row.tokens;
    total.pricedUsd += row.pricedUsd;
    total.isPriced &&= row.costUsd !== null;
  }
  return total;
}
