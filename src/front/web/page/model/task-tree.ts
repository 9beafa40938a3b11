import type { TaskRow } from '../../wire.ts';

/** A visible line of the tree of tasks. */
export interface TreeLine {
  readonly row: TaskRow;
  /** The level, from 1, as `aria-level` counts. */
  readonly level: number;
  /** The number of tasks with the same parent, and the position among them, from 1. */
  readonly setSize: number;
  readonly position: number;
  /** Whether the children of the task are shown; null if it has none. */
  readonly isOpen: boolean | null;
  /** False if the line is shown only because of a task below it. */
  readonly isMatch: boolean;
}

/** The choices of a person about a tree. */
export interface TreeView {
  /** Whether the children of a task are shown. */
  readonly isOpen: (row: TaskRow) => boolean;
  /** The tasks to show, with those above them; null: all. */
  readonly matches: ((row: TaskRow) => boolean) | null;
}

/**
 * Returns the visible lines of all trees: the newest tree first, and in a tree each task after its parent, in the order of
 * creation. A task whose parent is not known is shown as the top of a tree.
 */
export function layOutTree(
  tasks: ReadonlyMap<string, TaskRow>,
  { isOpen, matches }: TreeView,
): readonly TreeLine[] {
  const { roots, children } = groupByParent(tasks);
  const wanted = matches === null ? null : findWanted(tasks, matches);
  const isShown = ({ id }: TaskRow): boolean => wanted === null || wanted.has(id);
  const lines: TreeLine[] = [];
  const add = (rows: readonly TaskRow[], level: number): void => {
    const shown = wanted === null ? rows : rows.filter(isShown);
    for (const [index, row] of shown.entries()) {
      const below = children.get(row.id)?.filter(isShown) ?? [];
      // A search shows what it has found, also below a closed task.
      const opens = wanted !== null || isOpen(row);
      lines.push({
        row,
        level,
        setSize: shown.length,
        position: index + 1,
        isOpen: below.length === 0 ? null : opens,
        isMatch: matches === null || matches(row),
      });
      if (below.length > 0 && opens) add(below, level + 1);
    }
  };
  add(roots, 1);
  return lines;
}

function groupByParent(tasks: ReadonlyMap<string, TaskRow>) {
  const children = new Map<string, TaskRow[]>();
  const roots: TaskRow[] = [];
  for (const row of tasks.values()) {
    if (row.parent === null || !tasks.has(row.parent)) {
      roots.push(row);
      continue;
    }
    const siblings = children.get(row.parent);
    if (siblings === undefined) children.set(row.parent, [row]);
    else siblings.push(row);
  }
  roots.sort((a, b) => b.created - a.created || compareIds(a, b));
  for (const siblings of children.values()) {
    siblings.sort((a, b) => a.created - b.created || compareIds(a, b));
  }
  return { roots, children };
}

function compareIds(a: TaskRow, b: TaskRow): number {
  return a.id < b.id ? -1 : 1;
}

/** Finds the tasks that match, and all tasks above them. */
function findWanted(
  tasks: ReadonlyMap<string, TaskRow>,
  matches: (row: TaskRow) => boolean,
): ReadonlySet<string> {
  const wanted = new Set<string>();
  for (const row of tasks.values()) {
    if (!matches(row)) continue;
    // A task that is already wanted has all tasks above it, so damaged parents cannot form an endless way.
    for (
      let at: TaskRow | undefined = row;
      at !== undefined && !wanted.has(at.id);
      at = at.parent === null ? undefined : tasks.get(at.parent)
    ) {
      wanted.add(at.id);
    }
  }
  return wanted;
}

/** The choices of tasks by their status. */
export const TREE_FILTERS = ['all', 'active', 'waiting', 'failed'] as const;
/** A choice of tasks by their status. `waiting`: they wait for a person. */
export type TreeFilter = (typeof TREE_FILTERS)[number];

/**
 * Creates the test for a filter and a typed text; returns null if all tasks pass.
 *
 * @param found the ids of the tasks in whose texts the server has found the typed text
 */
export function createTreeMatcher(
  filter: TreeFilter,
  typed: string,
  found: ReadonlyMap<string, unknown>,
): ((row: TaskRow) => boolean) | null {
  const text = typed.trim().toLowerCase();
  if (filter === 'all' && text === '') return null;
  return (row) =>
    passes(row, filter) &&
    (text === '' ||
      found.has(row.id) ||
      row.title.toLowerCase().includes(text) ||
      row.agent.toLowerCase().includes(text) ||
      row.id.startsWith(text));
}

function passes({ status, questions }: TaskRow, filter: TreeFilter): boolean {
  switch (filter) {
    case 'all':
      return true;
    case 'active':
      return status === 'running' || status === 'queued';
    case 'waiting':
      return status === 'parked' || questions.length > 0;
    case 'failed':
      return status === 'failed' || status === 'killed' || status === 'interrupted';
    default:
      return filter satisfies never;
  }
}
