import { planRewind, type RewindPlan, type RewindRequest } from '../../engine/rewind/plan.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { taskInUse } from '../../store/task-ids.ts';
import { refuseBelowRunningTask } from './delete-tasks.ts';

/** Plans a rewind. Throws `CONFLICT` also if the task, a descendant or an ancestor has an owner. */
export async function planIdleRewind(
  store: TaskStore,
  id: string,
  wish: RewindRequest,
): Promise<RewindPlan> {
  refuseBelowRunningTask(store, id);
  const plan = await planRewind(store, id, wish);
  for (const task of Object.keys(plan.logs)) {
    const owner = store.owner(task);
    if (owner !== null) throw taskInUse(task, owner.pid);
  }
  return plan;
}
