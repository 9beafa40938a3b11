import type { TaskSummary } from '../../../../api/index.ts';
import type { TaskStatus } from '../../../../protocol/result.ts';

/** A line of a listing. */
export interface Row {
  readonly task: TaskSummary;
  /** How many of those above it are listed, too. */
  readonly level: number;
}

export interface Rows {
  readonly rows: readonly Row[];
  readonly left: { readonly trees: number; readonly tasks: number };
}

/** Trees listed: as many as are begun within these. One that is at work is listed in any case. */
export interface MostRows {
  readonly trees: number;
  readonly rows: number;
}

/** Which agent does what, on one line whatever the description holds. */
export function taskTitle({ agent, description }: TaskSummary): string {
  return `${agent}: ${description}`.replaceAll(/\s+/g, ' ');
}

const AT_WORK: ReadonlySet<TaskStatus> = new Set(['queued', 'running', 'parked']);

export function isAtWork({ status }: TaskSummary): boolean {
  return AT_WORK.has(status);
}

/** Tasks (newest first) by tree, the newest tree first; in a tree each below its parent, oldest first. */
export function listedRows(tasks: readonly TaskSummary[], most: MostRows | null): Rows {
  const known = new Set(tasks.map(({ id }) => id));
  const children = Map.groupBy(tasks.toReversed(), ({ parent }) => parent);
  const rows: Row[] = [];
  const reached = new Set<string>();
  const left = { trees: 0, tasks: 0 };
  let trees = 0;
  const isTop = ({ parent }: TaskSummary) => parent === null || !known.has(parent);
  // Tasks that say they are above each other are below none: each of them is listed, too.
  for (const top of [...tasks.filter(isTop), ...tasks.filter((task) => !isTop(task))]) {
    if (reached.has(top.id)) continue;
    const tree = rowsOf(top, children, reached);
    const isOver = most !== null && (trees >= most.trees || rows.length >= most.rows);
    if (isOver && !tree.some(({ task }) => isAtWork(task))) {
      left.trees += 1;
      left.tasks += tree.length;
      continue;
    }
    trees += 1;
    rows.push(...tree);
  }
  return { rows, left };
}

function rowsOf(
  top: TaskSummary,
  children: ReadonlyMap<string | null, readonly TaskSummary[]>,
  reached: Set<string>,
): readonly Row[] {
  const rows: Row[] = [];
  const stack: Row[] = [{ task: top, level: 0 }];
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    if (reached.has(row.task.id)) continue;
    reached.add(row.task.id);
    rows.push(row);
    const level = row.level + 1;
    const below = children.get(row.task.id) ?? [];
    for (const task of below.toReversed()) stack.push({ task, level });
  }
  return rows;
}
