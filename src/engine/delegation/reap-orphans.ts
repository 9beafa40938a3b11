import { isId } from '../../base/ids.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { endMarkedProcesses } from '../../sys/processes/process-group.ts';
import { closeOpenCalls } from '../calls/calls.ts';
import { closeOpenChildren } from './deliver-end.ts';
import type { EngineDeps } from '../task/deps.ts';
import { endStopped } from '../task/endings.ts';
import { foldLog, LogFold } from '../task/fold-log.ts';
import { openJournal, type Journal } from '../task/journal.ts';
import { closeLostShells } from './recover-task.ts';
import type { StopOrder } from '../task/stop-order.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** A task without an owner whose log this process has claimed. */
interface Orphan {
  readonly state: TaskState;
  readonly journal: Journal;
}

/** The ports that reaping needs. */
export type OrphanDeps = Pick<EngineDeps, 'store' | 'onFault'>;

/**
 * Ends a task that its process left without an end, and all its descendants: the processes that they had started are
 * killed, and an end is written to each log. Throws MusterError: `CONFLICT` while another process owns one of the
 * tasks, in which case none is ended.
 */
export async function reapOrphans(deps: OrphanDeps, id: string, order: StopOrder): Promise<void> {
  const tasks: Orphan[] = [];
  try {
    open(deps, id, tasks);
    const forced = await endMarkedProcesses(
      TASK_VARIABLE,
      tasks.map(({ state }) => state.spec.id),
    );
    for (const task of tasks.toReversed()) {
      if (task.state.end !== null) continue;
      closeOpenCalls(task, order.reason);
      closeOpenChildren(deps, task);
      const ending = endStopped(task.state, order, { forced });
      task.journal.record({ type: 'task.ended', ...ending });
      await task.journal.sync();
    }
  } finally {
    for (const { journal } of tasks) journal.close();
  }
}

/** Claims the logs of a task and of its descendants without an end; each parent comes before its children. */
function open(deps: OrphanDeps, id: string, tasks: Orphan[]): void {
  const { store } = deps;
  const task = take(deps, id);
  tasks.push(task);
  // Another process ended it just before this one claimed it.
  if (task.state.end !== null) return;
  closeLostShells(task);
  for (const child of task.state.openChildren) {
    if (!isId(child) || !store.exists(child)) continue;
    if (foldLog(store, child).end === null) open(deps, child, tasks);
  }
}

function take(deps: OrphanDeps, id: string): Orphan {
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
