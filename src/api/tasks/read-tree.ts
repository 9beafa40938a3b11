import { isId } from '../../base/ids.ts';
import { LogFold } from '../../engine/task/fold-log.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

type Logs = Pick<TaskStore, 'exists' | 'getOwner' | 'scan'>;

/** The maximum time of reading without a pause for other work. */
const SLICE_MS = 15;

export interface ReadTreeOptions {
  /** The maximum number of tasks to read. If there are more, ended tasks are skipped, the oldest first. */
  readonly maxTasks: number;
  /**
   * Called with the state of each task that is read; see `readCurrentState`. A parent comes before its children, and
   * children come in the order of their creation.
   */
  readonly onTask: (state: TaskState) => void;
  /** Reading stops when this signal aborts. */
  readonly signal?: AbortSignal;
}

/**
 * Reads the task `top` and its descendants from their logs, with pauses for other work. Leaves out a task if its log
 * does not exist yet or has lost its beginning. Resolves to the ids of the tasks that were skipped because of
 * `maxTasks`.
 */
export async function readTree(
  store: Logs,
  top: string,
  { maxTasks, onTask, signal }: ReadTreeOptions,
): Promise<readonly string[]> {
  const skippedIds: string[] = [];
  const seen = new Set([top]);
  const waiting = [top];
  let sliceEnds = performance.now() + SLICE_MS;
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const state = readCurrentState(store, id);
    if (state === null) continue;
    onTask(state);
    const children = [...state.children.keys()].filter((child) => isId(child) && !seen.has(child));
    const remaining = Math.max(0, maxTasks - seen.size);
    const isRead = (child: string, index: number): boolean =>
      state.openChildren.has(child) || index >= children.length - remaining;
    const { read = [], skipped = [] } = Object.groupBy(children, (child, index) =>
      isRead(child, index) ? 'read' : 'skipped',
    );
    for (const child of skipped) skippedIds.push(...skipTree(state, child, seen));
    for (const child of children) seen.add(child);
    waiting.push(...read.toReversed());
    if (performance.now() < sliceEnds) continue;
    await new Promise(setImmediate);
    if (signal?.aborted === true) break;
    sliceEnds = performance.now() + SLICE_MS;
  }
  return skippedIds;
}

/** Returns the ids of a skipped child and of its descendants, as far as the log of its parent names them. */
function skipTree({ children }: TaskState, child: string, seen: Set<string>): readonly string[] {
  const ids = [child, ...(children.get(child)?.below ?? [])].filter((id) => !seen.has(id));
  for (const id of ids) seen.add(id);
  return ids;
}

/**
 * Returns the current state of a task from its log. A task without an end and without an owner is `interrupted`, unless
 * it is parked. Returns null if there is no log, or if its beginning is lost.
 */
export function readCurrentState(store: Logs, id: string): TaskState | null {
  if (!store.exists(id)) return null;
  const isOwned = store.getOwner(id) !== null;
  // Read the log after the owner: an owner writes the end before it releases the log.
  const fold = new LogFold((visit) => void store.scan(id, visit));
  store.scan(id, fold.add);
  const { state } = fold;
  if (state !== null && !isOwned && state.end === null && state.status !== 'parked') {
    state.status = 'interrupted';
  }
  return state;
}
