import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { reapOrphans } from '../../engine/delegation/recover-task.ts';
import { stopOrder } from '../../engine/task/stop-order.ts';
import type { TaskOwner } from '../../store/task-store.ts';
import { askProcess, type TaskDirectory } from './ask-process.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/**
 * The longest wait. 2 s are promised for a task that does not react (docs/tasks.md); the rest is for a busy machine.
 */
const STOP_MS = 15_000;
const LOOK_MS = 20;

export interface StopOutcome {
  readonly id: string;
  /** True if the task had ended already. */
  readonly hadEnded: boolean;
  /** The state at its end. */
  readonly state: TaskState;
}

export interface StopTaskOptions {
  readonly id: string;
  /** The reason, for the log. */
  readonly because: string;
  /** Called with problems that do not prevent the stop. */
  readonly onNotice: (line: string) => void;
}

/**
 * Stops a task with its descendants and waits for its end: through the process that owns it or, without an owner, by
 * writing its end. Throws MusterError if it continues nevertheless.
 */
export async function stopTask(
  place: TaskDirectory,
  options: StopTaskOptions,
): Promise<StopOutcome> {
  const { store } = place;
  const { id } = options;
  const before = foldLog(store, id);
  if (before.end !== null) return { id, hadEnded: true, state: before };
  const giveUpAt = performance.now() + STOP_MS;
  for (;;) {
    const owner = store.getOwner(id);
    const problem = await (owner === null ? end(place, options) : ask(place, options, owner));
    const state = foldLog(store, id);
    if (state.end !== null) return { id, hadEnded: false, state };
    if (performance.now() > giveUpAt) throw problem ?? stillAtWork(id);
    await sleep(LOOK_MS);
  }
}

function stillAtWork(id: string): MusterError {
  return new MusterError('TIMEOUT', `task ${id} goes on ${STOP_MS / 1000} s after it was stopped`);
}

/** Resolves when its process says that it has ended, to a problem that may pass or to null. */
async function ask(
  place: TaskDirectory,
  { id, because }: StopTaskOptions,
  owner: TaskOwner,
): Promise<MusterError | null> {
  const isStillOwner = () => place.store.getOwner(id)?.token === owner.token;
  const request = { op: 'stop', task: id, because } as const;
  try {
    const reply = await askProcess(place, owner, request, { timeoutMs: STOP_MS, isStillOwner });
    if (reply.ok) return null;
    const { code, message, retryable } = reply.error;
    const problem = new MusterError(code, message, { retryable });
    // It has ended just now, or its process does.
    if (retryable || code === 'NOT_FOUND' || code === 'CANCELLED') return problem;
    throw problem;
  } catch (thrown) {
    // It hung up, as one does that ends.
    if (thrown instanceof MusterError && !isStillOwner()) return thrown;
    throw thrown;
  }
}

async function end(place: TaskDirectory, options: StopTaskOptions): Promise<MusterError | null> {
  const { store } = place;
  const { id, because, onNotice } = options;
  try {
    const state = foldLog(store, id);
    if (state.end !== null) return null;
    await stopOwnedBelow(place, state, options);
    const onFault = (task: string, thrown: unknown) =>
      onNotice(`task ${task}: ${errorMessage(thrown)}`);
    await reapOrphans({ store, onFault }, id, stopOrder('user', because));
    return null;
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'CONFLICT') return thrown;
    throw thrown;
  }
}

/**
 * Stops owned descendants of a task without an owner, since they may have been resumed by themselves.
 */
async function stopOwnedBelow(
  place: TaskDirectory,
  top: TaskState,
  options: StopTaskOptions,
): Promise<void> {
  const { store } = place;
  const below = new Set(top.openChildren);
  // A set that grows while it is gone through is gone through to its end.
  for (const id of below) {
    if (!isId(id) || !store.exists(id)) continue;
    const { end: ended, openChildren } = foldLog(store, id);
    if (ended !== null) continue;
    if (store.getOwner(id) !== null) await stopTask(place, { ...options, id });
    else for (const child of openChildren) below.add(child);
  }
}
