import { MusterError } from '../../base/errors.ts';
import type { TaskStore, TaskSummary } from '../../store/task-store.ts';
import { ancestorsOf } from './ask-process.ts';

/** Returns tasks with their descendants, each once, parents before children. */
function withDescendants(ids: readonly string[], tasks: readonly TaskSummary[]): readonly string[] {
  const children = Map.groupBy(tasks, ({ parent }) => parent);
  const found = new Set(ids);
  // A set that grows while it is gone through is gone through to its end.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id);
  return [...found];
}

/** A deleted task. */
export interface DeletedTask {
  readonly id: string;
  /** The former task, or null if its log could not be read. */
  readonly was: TaskSummary | null;
}

/**
 * Deletes tasks with their descendants, and returns them. Throws `CONFLICT`, and deletes none, if one of them or an
 * ancestor runs.
 */
export async function deleteTasksWithDescendants(
  store: TaskStore,
  ids: readonly string[],
): Promise<readonly DeletedTask[]> {
  const tasks = store.list();
  const known = new Map(tasks.map((task) => [task.id, task]));
  for (const id of ids) refuseBelowRunningTask(store, id);
  const doomed = withDescendants(ids, tasks);
  await store.delete(doomed);
  return doomed.map((id) => ({ id, was: known.get(id) ?? null }));
}

/**
 * Throws `CONFLICT` if an ancestor runs, because it may read or continue its descendants at any time.
 */
export function refuseBelowRunningTask(store: TaskStore, id: string): void {
  if (!store.exists(id)) return;
  for (const above of ancestorsOf(store, id)) {
    const owner = store.getOwner(above);
    if (owner === null) continue;
    throw new MusterError(
      'CONFLICT',
      `task ${id} belongs to task ${above}, which process ${owner.pid} works on: stop that first, or wait until it ends`,
    );
  }
}
