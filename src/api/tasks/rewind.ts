import {
  planRewind,
  type RewindPlan,
  type RewindRequest,
} from '../../engine/rewind/plan-rewind.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { taskInUseError } from '../../store/files/task-files.ts';
import { refuseBelowRunningTask } from './delete-tasks.ts';

/**
 * Plans a rewind. Throws as `planRewind` does, and `CONFLICT` if the task, a descendant or an ancestor has an owner.
 */
export async function planIdleRewind(
  store: TaskStore,
  id: string,
  request: RewindRequest,
): Promise<RewindPlan> {
  refuseBelowRunningTask(store, id);
  const plan = await planRewind(store, id, request);
  for (const task of Object.keys(plan.logs)) {
    const owner = store.getOwner(task);
    if (owner !== null) throw taskInUseError(task, owner.pid);
  }
  return plan;
}
