import { hasEnded, type TaskRow } from './task-row.ts';
import type { TaskTree } from './task-tree.ts';

/** A task where it stands in the tree. */
export interface TreeRow {
  readonly row: TaskRow;
  /** Levels below the topmost that is shown. */
  readonly level: number;
  readonly isBackground: boolean;
}

/** The main task and all below it, each below its parent, those of one parent as they were made. */
export function treeRows(ui: TaskTree): readonly TreeRow[] {
  const below = Map.groupBy(ui.rows.values(), ({ parent }) => parent);
  const rows: TreeRow[] = [];
  const visit = (row: TaskRow, level: number): void => {
    rows.push({ row, level, isBackground: ui.background.has(row.id) });
    for (const child of below.get(row.id) ?? []) visit(child, level + 1);
  };
  const root = ui.root === null ? undefined : ui.rows.get(ui.root);
  if (root !== undefined) visit(root, 0);
  return rows;
}

/** Those that have to do with what the main task works on now: not what ended before it began with that. */
export function currentRows(ui: TaskTree): readonly TreeRow[] {
  const root = ui.root === null ? undefined : ui.rows.get(ui.root);
  if (root === undefined) return [];
  return treeRows(ui).filter(
    ({ row }) => row === root || row.endedAt === null || row.endedAt >= root.since,
  );
}

/** Whether anything of the tree is at work. */
export function isAtWork(ui: TaskTree): boolean {
  for (const row of ui.rows.values()) if (!hasEnded(row)) return true;
  return false;
}

export interface PaneRows {
  readonly shown: readonly TreeRow[];
  readonly hidden: { readonly atWork: number; readonly ended: number };
}

/**
 * At most `most` of the rows, in their order. Those at work go before those that have ended, of these the
 * last ones; `chosen` is always among them.
 */
export function paneRows(
  rows: readonly TreeRow[],
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

/** The smaller, the sooner it is shown. */
function weightOf({ row, level }: TreeRow, chosen: string | null): number {
  if (row.id === chosen) return -3;
  if (level === 0) return -2;
  if (row.asks > 0) return -1;
  return row.endedAt === null ? 0 : Number.MAX_SAFE_INTEGER - row.endedAt;
}

/** What all tasks of a tree have used. */
export interface TreeUse {
  readonly turns: number;
  readonly tokens: number;
  /** Null: no price is known for a part. */
  readonly costUsd: number | null;
}

/** Of the tasks that are kept in view. */
export function treeUse({ rows }: Pick<TaskTree, 'rows'>): TreeUse {
  let [turns, tokens] = [0, 0];
  let costUsd: number | null = 0;
  for (const row of rows.values()) {
    turns += row.turns;
    tokens += row.tokens;
    costUsd = costUsd === null || row.costUsd === null ? null : costUsd + row.costUsd;
  }
  return { turns, tokens, costUsd };
}
