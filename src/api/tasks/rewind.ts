import {
  planRewind,
  type RewindPlan,
  type RewindRequest,
} from '../../engine/rewind/plan-rewind.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { taskInUseError } from '../../store/files/task-ids.ts';
import { refuseBelowWork } from './tasks-family.ts';

/** Throws `CONFLICT` also where the task, one below it or one above it has an owner. */
export async function planFreeRewind(
  store: TaskStore,
  id: string,
  wish: RewindRequest,
): Promise<RewindPlan> {
  refuseBelowWork(store, id);
  const plan = await planRewind(store, id, wish);
  for (const task of Object.keys(plan.logs)) {
    const owner = store.getOwner(task);
    if (owner !== null) throw taskInUseError(task, owner.pid);
  }
  return plan;
}
