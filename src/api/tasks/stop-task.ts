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
 * The maximum wait for the end of a task. The documentation promises 2 s (docs/tasks.md); a busy machine may take
 * longer.
 */
const STOP_TIMEOUT_MS = 15_000;
const CHECK_INTERVAL_MS = 20;

export interface StopOutcome {
  readonly id: string;
  /** True if the task had already ended before the request. */
  readonly hadEnded: boolean;
  /** The state of the task after its end. */
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
 * Stops a task with its descendants, and waits for the end of the task. Asks the process that owns the task or, if it
 * has no owner, writes its end to the log. Throws MusterError if the task has not ended after `STOP_TIMEOUT_MS`.
 */
export async function stopTask(
  directory: TaskDirectory,
  options: StopTaskOptions,
): Promise<StopOutcome> {
  const { store } = directory;
  const { id } = options;
  const before = foldLog(store, id);
  if (before.end !== null) return { id, hadEnded: true, state: before };
  const giveUpAt = performance.now() + STOP_TIMEOUT_MS;
  for (;;) {
    const owner = store.getOwner(id);
    const problem = await (owner === null
      ? writeEnd(directory, options)
      : askOwnerToStop(directory, options, owner));
    const state = foldLog(store, id);
    if (state.end !== null) return { id, hadEnded: false, state };
    if (performance.now() > giveUpAt) throw problem ?? createStillRunningError(id);
    await sleep(CHECK_INTERVAL_MS);
  }
}

function createStillRunningError(id: string): MusterError {
  const message = `task ${id} is still running ${STOP_TIMEOUT_MS / 1000} s after it was told to stop`;
  return new MusterError('TIMEOUT', message);
}

/**
 * Asks the owner of a task to stop it. Resolves to null when the owner replies that the task has ended, or to an error
 * if another attempt may succeed.
 */
async function askOwnerToStop(
  directory: TaskDirectory,
  { id, because }: StopTaskOptions,
  owner: TaskOwner,
): Promise<MusterError | null> {
  const isStillOwner = () => directory.store.getOwner(id)?.token === owner.token;
  const request = { op: 'stop', task: id, because } as const;
  try {
    const reply = await askProcess(directory, owner, request, {
      timeoutMs: STOP_TIMEOUT_MS,
      isStillOwner,
    });
    if (reply.ok) return null;
    const { code, message, retryable } = reply.error;
    const problem = new MusterError(code, message, { retryable });
    // The task has just ended, or its process is ending.
    if (retryable || code === 'NOT_FOUND' || code === 'CANCELLED') return problem;
    throw problem;
  } catch (thrown) {
    // The process closed the connection because it was ending.
    if (thrown instanceof MusterError && !isStillOwner()) return thrown;
    throw thrown;
  }
}

/**
 * Writes the end of a task without an owner. Resolves to an error if another process has taken over a task meanwhile.
 */
async function writeEnd(
  directory: TaskDirectory,
  options: StopTaskOptions,
): Promise<MusterError | null> {
  const { store } = directory;
  const { id, because, onNotice } = options;
  try {
    const state = foldLog(store, id);
    if (state.end !== null) return null;
    await stopOwnedDescendants(directory, state, options);
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
 * Stops those descendants of a task without an owner that have an owner, because somebody may have resumed them
 * separately.
 */
async function stopOwnedDescendants(
  directory: TaskDirectory,
  top: TaskState,
  options: StopTaskOptions,
): Promise<void> {
  const { store } = directory;
  const descendants = new Set(top.openChildren);
  // This loop also visits the ids that it adds to the set.
  for (const id of descendants) {
    if (!isId(id) || !store.exists(id)) continue;
    const { end: ended, openChildren } = foldLog(store, id);
    if (ended !== null) continue;
    if (store.getOwner(id) !== null) await stopTask(directory, { ...options, id });
    else for (const child of openChildren) descendants.add(child);
  }
}
