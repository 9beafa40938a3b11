import { MusterError } from '../../base/errors.ts';
import type { TaskStore, TaskSummary } from '../../store/task-store.ts';
import { listAncestors } from './ask-process.ts';

/** Returns the ids of tasks and of their descendants, each once, parents before children. */
function addDescendants(ids: readonly string[], tasks: readonly TaskSummary[]): readonly string[] {
  const children = Map.groupBy(tasks, ({ parent }) => parent);
  const collected = new Set(ids);
  // This loop also visits the ids that it adds to the set.
  for (const id of collected) for (const child of children.get(id) ?? []) collected.add(child.id);
  return [...collected];
}

/** A deleted task. */
export interface DeletedTask {
  readonly id: string;
  /** The task before its deletion, or null if its log could not be read. */
  readonly was: TaskSummary | null;
}

/**
 * Deletes tasks with their descendants, and returns the deleted tasks. If one of them or an ancestor runs, deletes
 * nothing and throws `CONFLICT`.
 */
export async function deleteTasksWithDescendants(
  store: TaskStore,
  ids: readonly string[],
): Promise<readonly DeletedTask[]> {
  const tasks = store.list();
  const known = new Map(tasks.map((task) => [task.id, task]));
  for (const id of ids) refuseBelowRunningTask(store, id);
  const allIds = addDescendants(ids, tasks);
  await store.delete(allIds);
  return allIds.map((id) => ({ id, was: known.get(id) ?? null }));
}

/**
 * Throws `CONFLICT` if an ancestor of a task runs, because the ancestor may read or continue the task at any time.
 */
export function refuseBelowRunningTask(store: TaskStore, id: string): void {
  if (!store.exists(id)) return;
  for (const ancestor of listAncestors(store, id)) {
    const owner = store.getOwner(ancestor);
    if (owner === null) continue;
    throw new MusterError(
      'CONFLICT',
      `task ${id} belongs to task ${ancestor}, which is in use by process ${owner.pid}: stop task ${ancestor} first, or wait until it ends`,
    );
  }
}
