import { MusterError } from '../../base/errors.ts';
import type { TaskStore, TaskSummary } from '../../store/task-store.ts';
import { ancestorsOf } from './ask-process.ts';

/** Tasks with all below them, each once, those above before those below. */
function withDescendants(ids: readonly string[], tasks: readonly TaskSummary[]): readonly string[] {
  const children = Map.groupBy(tasks, ({ parent }) => parent);
  const found = new Set(ids);
  // A set that grows while it is gone through is gone through to its end.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id);
  return [...found];
}

/** A task that is no more. */
export interface DeletedTask {
  readonly id: string;
  /** Null where its log could not be read. */
  readonly was: TaskSummary | null;
}

/**
 * Deletes tasks with all below them; returns what went. Throws `CONFLICT`, and deletes none, where one
 * of them, or one above it, is at work.
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

/** Throws `CONFLICT`: what a task at work has below it, it may read or go on with at any time. */
export function refuseBelowRunningTask(store: TaskStore, id: string): void {
  if (!store.exists(id)) return;
  for (const above of ancestorsOf(store, id)) {
    const owner = store.owner(above);
    if (owner === null) continue;
    throw new MusterError(
      'CONFLICT',
      `task ${id} belongs to task ${above}, which process ${owner.pid} works on: stop that first, or wait until it ends`,
    );
  }
}
