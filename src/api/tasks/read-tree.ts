import { isId } from '../../base/ids.ts';
import { LogFold } from '../../engine/task/fold-log.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

type Logs = Pick<TaskStore, 'exists' | 'getOwner' | 'scan'>;

/** The longest reading without a pause in which others are served. */
const SLICE_MS = 15;

export interface ReadTreeOptions {
  /** The maximum number of tasks to read. If there are more, ended ones are skipped, the oldest first. */
  readonly most: number;
  /**
   * Called with each task; see `currentState`. A parent precedes its children, which are in the order of their
   * creation.
   */
  readonly found: (state: TaskState) => void;
  /** When it aborts, nothing more is read. */
  readonly signal?: AbortSignal;
}

/**
 * Reads a task and its descendants from their logs, with pauses. A log that does not exist (yet), or has lost its
 * beginning, is left out. Resolves to the ids of skipped tasks.
 */
export async function readTree(
  store: Logs,
  top: string,
  { most, found, signal }: ReadTreeOptions,
): Promise<readonly string[]> {
  const passedOver: string[] = [];
  const seen = new Set([top]);
  const waiting = [top];
  let sliceEnds = performance.now() + SLICE_MS;
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const state = currentState(store, id);
    if (state === null) continue;
    found(state);
    const below = [...state.children.keys()].filter((child) => isId(child) && !seen.has(child));
    const room = Math.max(0, most - seen.size);
    const isRead = (child: string, index: number): boolean =>
      state.openChildren.has(child) || index >= below.length - room;
    const { read = [], skipped = [] } = Object.groupBy(below, (child, index) =>
      isRead(child, index) ? 'read' : 'skipped',
    );
    for (const child of skipped) passedOver.push(...withBelow(state, child, seen));
    for (const child of below) seen.add(child);
    waiting.push(...read.toReversed());
    if (performance.now() < sliceEnds) continue;
    await new Promise(setImmediate);
    if (signal?.aborted === true) break;
    sliceEnds = performance.now() + SLICE_MS;
  }
  return passedOver;
}

/** Returns a skipped task with its descendants as far as its parent knows them. */
function withBelow({ children }: TaskState, child: string, seen: Set<string>): readonly string[] {
  const ids = [child, ...(children.get(child)?.below ?? [])].filter((id) => !seen.has(id));
  for (const id of ids) seen.add(id);
  return ids;
}

/**
 * Returns the present state of a task from its log: `interrupted` if it has no end and no owner and is not parked.
 * Returns null if there is no log, or its beginning is lost.
 */
export function currentState(store: Logs, id: string): TaskState | null {
  if (!store.exists(id)) return null;
  const isOwned = store.getOwner(id) !== null;
  // Read after the owner was looked for: an end is written before the log is given up.
  const fold = new LogFold((visit) => void store.scan(id, visit));
  store.scan(id, fold.add);
  const { state } = fold;
  if (state !== null && !isOwned && state.end === null && state.status !== 'parked') {
    state.status = 'interrupted';
  }
  return state;
}
