import { isId } from '../../base/ids.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { endMarkedProcesses } from '../../sys/processes/process-group.ts';
import { closeOpenCalls } from '../calls/calls.ts';
import { closeOpenChildren } from './delivery.ts';
import type { EngineDeps } from '../task/deps.ts';
import { stopped } from '../task/endings.ts';
import { foldLog, LogFold } from '../task/fold-log.ts';
import { openJournal, type Journal } from '../task/journal.ts';
import { closeLostShells } from './recover-task.ts';
import type { StopOrder } from '../task/stop.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** A task that nobody works on, its log in our hands. */
interface Abandoned {
  readonly state: TaskState;
  readonly journal: Journal;
}

export type OrphanDeps = Pick<EngineDeps, 'store' | 'onFault'>;

/**
 * Ends a task that its process left without an end, and all below it: what that process had started is
 * ended, and each log gets its end. Throws MusterError, `CONFLICT` while somebody owns one of them; then
 * none has ended.
 */
export async function reapOrphans(deps: OrphanDeps, id: string, order: StopOrder): Promise<void> {
  const tasks: Abandoned[] = [];
  try {
    open(deps, id, tasks);
    const forced = await endMarkedProcesses(
      TASK_VARIABLE,
      tasks.map(({ state }) => state.spec.id),
    );
    for (const task of tasks.toReversed()) {
      if (task.state.end !== null) continue;
      closeOpenCalls(task, order.because);
      closeOpenChildren(deps, task);
      const ending = stopped(task.state, order, { forced });
      task.journal.record({ type: 'task.ended', ...ending });
      await task.journal.sync();
    }
  } finally {
    for (const { journal } of tasks) journal.close();
  }
}

/** Takes the logs of a task and of all below it that has no end; each comes before those below it. */
function open(deps: OrphanDeps, id: string, tasks: Abandoned[]): void {
  const { store } = deps;
  const task = take(deps, id);
  tasks.push(task);
  // Ended by somebody else just before it was ours.
  if (task.state.end !== null) return;
  closeLostShells(task);
  for (const child of task.state.openChildren) {
    if (!isId(child) || !store.exists(child)) continue;
    if (foldLog(store, child).end === null) open(deps, child, tasks);
  }
}

function take(deps: OrphanDeps, id: string): Abandoned {
  const before = new LogFold((visit) => void deps.store.scan(id, visit));
  const log = deps.store.claim(id, before.add);
  try {
    const journal = openJournal({ ...deps, onEvent: () => {} }, { id }, log, before.state);
    return { state: journal.state, journal };
  } catch (thrown) {
    log.close();
    throw thrown;
  }
}
