import type { UiState } from './ui-state.ts';

/** What all tasks of a tree have used. */
export interface TreeUse {
  readonly turns: number;
  readonly tokens: number;
  /** Null: no price is known for a part. */
  readonly costUsd: number | null;
}

/** Of the tasks that are kept in view. */
export function treeUse({ rows }: Pick<UiState, 'rows'>): TreeUse {
  let [turns, tokens] = [0, 0];
  let costUsd: number | null = 0;
  for (const row of rows.values()) {
    turns += row.turns;
    tokens += row.tokens;
    costUsd = costUsd === null || row.costUsd === null ? null : costUsd + row.costUsd;
  }
  return { turns, tokens, costUsd };
}
