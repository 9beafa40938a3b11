import { hasEnded, type TaskRow } from './task-row.ts';
import { rootRow, type TaskTree } from './task-tree.ts';

/** A row of the tree. */
export interface TaskTreeRow {
  readonly row: TaskRow;
  /** The number of levels below the main task. */
  readonly level: number;
  readonly isBackground: boolean;
}

/** The rows of all tasks: each below its parent, and the children of one parent in order of their creation. */
export function treeRows(tree: TaskTree): readonly TaskTreeRow[] {
  const below = Map.groupBy(tree.rows.values(), ({ parent }) => parent);
  const rows: TaskTreeRow[] = [];
  const visit = (row: TaskRow, level: number): void => {
    rows.push({ row, level, isBackground: tree.background.has(row.id) });
    for (const child of below.get(row.id) ?? []) visit(child, level + 1);
  };
  const root = rootRow(tree);
  if (root !== undefined) visit(root, 0);
  return rows;
}

/** The rows without the tasks that had ended before the main task began its current work. */
export function currentRows(tree: TaskTree): readonly TaskTreeRow[] {
  const root = rootRow(tree);
  if (root === undefined) return [];
  return treeRows(tree).filter(
    ({ row }) => row === root || row.endedAt === null || row.endedAt >= root.since,
  );
}

/** Whether any task is at work. */
export function hasWork(tree: TaskTree): boolean {
  for (const row of tree.rows.values()) if (!hasEnded(row)) return true;
  return false;
}

export interface PaneRows {
  readonly shown: readonly TaskTreeRow[];
  readonly hidden: { readonly atWork: number; readonly ended: number };
}

/**
 * Chooses at most `most` rows and keeps their order. Tasks at work are preferred to ended ones, and of these the last
 * ones. The row of `chosen` is always among them.
 */
export function paneRows(
  rows: readonly TaskTreeRow[],
  most: number,
  chosen: string | null = null,
): PaneRows {
  const byWeight = rows
    .map((each, index) => ({ each, index, weight: weightOf(each, chosen) }))
    .toSorted((a, b) => a.weight - b.weight || a.index - b.index);
  const shown = byWeight.slice(0, most).toSorted((a, b) => a.index - b.index);
  const hidden = byWeight.slice(most).map(({ each }) => each.row);
  const ended = hidden.filter(hasEnded).length;
  return {
    shown: shown.map(({ each }) => each),
    hidden: { atWork: hidden.length - ended, ended },
  };
}

/** Rows with a smaller weight are shown first. */
function weightOf({ row, level }: TaskTreeRow, chosen: string | null): number {
  if (row.id === chosen) return -3;
  if (level === 0) return -2;
  if (row.asks > 0) return -1;
  return row.endedAt === null ? 0 : Number.MAX_SAFE_INTEGER - row.endedAt;
}

/** The total use of all tasks of a tree. */
export interface TreeTotals {
  readonly turns: number;
  readonly tokens: number;
  /** Null if the price of a part is not known. */
  readonly costUsd: number | null;
}

/** Adds up the use of all tasks in the tree. */
export function treeTotals({ rows }: Pick<TaskTree, 'rows'>): TreeTotals {
  let [turns, tokens] = [0, 0];
  let costUsd: number | null = 0;
  for (const row of rows.values()) {
    turns += row.turns;
    tokens += row.tokens;
    costUsd = costUsd === null || row.costUsd === null ? null : costUsd + row.costUsd;
  }
  return { turns, tokens, costUsd };
}
