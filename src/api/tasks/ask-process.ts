import type { ControlRequest, ControlReply } from '../../control/protocol.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { MusterError } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import type { TaskOwner, TaskStore } from '../../store/task-store.ts';
import { sendControlRequest } from '../../control/client.ts';
import { controlSocketPath } from '../../control/path.ts';

/** A data directory and the store of its tasks. */
export interface TaskDirectory {
  readonly store: TaskStore;
  /** Absolute. */
  readonly dataDir: string;
}

interface AskOptions {
  /** The maximum time to wait for the reply. Default: 10 s. */
  readonly timeoutMs?: number;
  /** Returns whether the process can still be asked. Default: whether it owns the task. */
  readonly isStillOwner?: () => boolean;
}

const REPLY_TIMEOUT_MS = 10_000;
/** The maximum time that a process takes to open its control socket after it has started its first task. */
const MAX_LISTEN_DELAY_MS = 2_000;
const RETRY_DELAY_MS = 50;

/** Returns the process that owns the nearest running ancestor of a task, or null if no ancestor runs. */
export function findAncestorOwner({ store }: TaskDirectory, id: string): TaskOwner | null {
  for (const ancestor of listAncestors(store, id)) {
    const owner = store.getOwner(ancestor);
    if (owner !== null) return owner;
  }
  return null;
}

/** Returns the ids of the existing ancestors of a task, the nearest first. */
export function* listAncestors(store: TaskStore, id: string): Generator<string, void, undefined> {
  // The log of an imported task may name any parent, even one of its own descendants.
  const seen = new Set([id]);
  for (let task = id; ;) {
    const { parent } = foldLog(store, task).spec;
    if (parent === null || seen.has(parent) || !isId(parent) || !store.exists(parent)) return;
    seen.add(parent);
    yield parent;
    task = parent;
  }
}

/**
 * Sends a request to the process that owns a task. Returns the reply even if the process refuses the request. Throws
 * MusterError as `sendControlRequest` does, and `NOT_FOUND` with the pid if the process runs but does not listen.
 */
export async function askProcess(
  { store, dataDir }: TaskDirectory,
  owner: TaskOwner,
  request: ControlRequest,
  {
    timeoutMs = REPLY_TIMEOUT_MS,
    isStillOwner = () => store.getOwner(request.task)?.token === owner.token,
  }: AskOptions = {},
): Promise<ControlReply> {
  const path = controlSocketPath({ dataDir, token: owner.token });
  const giveUpAt = performance.now() + MAX_LISTEN_DELAY_MS;
  for (;;) {
    try {
      return await sendControlRequest(path, request, { timeoutMs });
    } catch (thrown) {
      const isNotListening = thrown instanceof MusterError && thrown.code === 'NOT_FOUND';
      if (!isNotListening) throw thrown;
      if (!isStillOwner() || performance.now() > giveUpAt)
        throw createNotListeningError(owner, request, thrown);
    }
    await sleep(RETRY_DELAY_MS);
  }
}

function createNotListeningError(
  { pid, host }: TaskOwner,
  { task }: ControlRequest,
  cause: unknown,
) {
  return new MusterError(
    'NOT_FOUND',
    `process ${pid} on ${host} owns task ${task} but does not accept requests from other terminals: use its own terminal, or end it with kill ${pid}`,
    { cause },
  );
}

/** Returns the text of a reply. If the reply is an error, throws that error. */
export function getReplyText(reply: ControlReply): string {
  if (reply.ok) return reply.text;
  const { code, message, retryable } = reply.error;
  throw new MusterError(code, message, { retryable });
}
