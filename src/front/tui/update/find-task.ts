import { plural } from '../../../base/text.ts';
import type { TreeTask } from '../model/task-row.ts';
import type { DisplayedTree } from '../model/task-tree.ts';

/** A task that was named by the beginning of its id, or why no task was found. */
type FoundTask = { readonly row: TreeTask } | { readonly problem: string };

/** Finds the task of the tree whose id begins with the typed text. */
export function findTask({ rows }: DisplayedTree, typed: string): FoundTask {
  if (typed === '') return { problem: 'which one? /tasks lists their ids' };
  const found = [...rows.values()].filter(({ id }) => id.startsWith(typed));
  const [row] = found;
  if (row !== undefined && found.length === 1) return { row };
  const why = row === undefined ? 'no task of this conversation' : plural(found.length, 'task');
  return { problem: `${typed} means ${why}; /tasks lists their ids` };
}
