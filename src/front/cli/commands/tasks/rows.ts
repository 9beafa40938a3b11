import type { TaskSummary } from '../../../../api/index.ts';
import { titleOf } from '../../../../base/title.ts';
import type { TaskStatus } from '../../../../protocol/result.ts';

/** A line of a listing of tasks. */
export interface Row {
  readonly task: TaskSummary;
  /** The number of listed tasks above the task. */
  readonly level: number;
}

/** The rows of a listing, and the numbers of trees and tasks beyond the limits. */
export interface Rows {
  readonly rows: readonly Row[];
  readonly omitted: { readonly trees: number; readonly tasks: number };
}

/** The limits of a listing. A tree is listed if its first row is within the limits, or if one of its tasks is at work. */
export interface RowLimits {
  readonly trees: number;
  readonly rows: number;
}

/** Names the agent and its work on one line. A conversation is named by its title. */
export function taskLabel({ agent, description, parent }: TaskSummary): string {
  const about = parent === null ? titleOf(description) || description : description;
  return `${agent}: ${about}`.replaceAll(/\s+/g, ' ');
}

const AT_WORK: ReadonlySet<TaskStatus> = new Set(['queued', 'running', 'parked']);

/** Whether a task may still do something, by itself or after an answer. */
export function isTaskAtWork({ status }: { readonly status: TaskStatus }): boolean {
  return AT_WORK.has(status);
}

/**
 * Orders tasks by tree, the newest tree first. In a tree each task is below its parent, and the children of a task are
 * listed from the oldest to the newest. `tasks` must be sorted from the newest to the oldest.
 */
export function listedRows(tasks: readonly TaskSummary[], limits: RowLimits | null): Rows {
  const known = new Set(tasks.map(({ id }) => id));
  const children = Map.groupBy(tasks.toReversed(), ({ parent }) => parent);
  const rows: Row[] = [];
  const seen = new Set<string>();
  const left = { trees: 0, tasks: 0 };
  let trees = 0;
  const isTop = ({ parent }: TaskSummary) => parent === null || !known.has(parent);
  // Damaged logs may name each other as parents. Such tasks have no top task above them, so they are visited last.
  for (const top of [...tasks.filter(isTop), ...tasks.filter((task) => !isTop(task))]) {
    if (seen.has(top.id)) continue;
    const tree = listTree(top, children, seen);
    const isOver = limits !== null && (trees >= limits.trees || rows.length >= limits.rows);
    if (isOver && !tree.some(({ task }) => isTaskAtWork(task))) {
      left.trees += 1;
      left.tasks += tree.length;
      continue;
    }
    trees += 1;
    rows.push(...tree);
  }
  return { rows, omitted: left };
}

function listTree(
  top: TaskSummary,
  children: ReadonlyMap<string | null, readonly TaskSummary[]>,
  seen: Set<string>,
): readonly Row[] {
  const rows: Row[] = [];
  const stack: Row[] = [{ task: top, level: 0 }];
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    if (seen.has(row.task.id)) continue;
    seen.add(row.task.id);
    rows.push(row);
    const level = row.level + 1;
    const below = children.get(row.task.id) ?? [];
    for (const task of below.toReversed()) stack.push({ task, level });
  }
  return rows;
}
