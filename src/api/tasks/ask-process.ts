import type { ControlRequest, ControlReply } from '../../control/protocol.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { MusterError } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import type { TaskOwner, TaskStore } from '../../store/task-store.ts';
import { sendControlRequest } from '../../control/client.ts';
import { controlSocketPath } from '../../control/path.ts';

/** A data directory with its store. */
export interface TaskDirectory {
  readonly store: TaskStore;
  /** Absolute. */
  readonly dataDir: string;
}

interface AskOptions {
  /** The longest wait for the reply. Default: 10 s. */
  readonly timeoutMs?: number;
  /** Returns whether the process can still be asked. Default: whether it owns the task. */
  readonly isStillOwner?: () => boolean;
}

const ANSWER_MS = 10_000;
/** The time after its first task in which a process begins to listen. */
const LISTENS_AFTER_MS = 2_000;
const LOOK_MS = 50;

/** Returns the process of the nearest running ancestor, or null. */
export function ancestorProcess({ store }: TaskDirectory, id: string): TaskOwner | null {
  for (const above of ancestorsOf(store, id)) {
    const owner = store.getOwner(above);
    if (owner !== null) return owner;
  }
  return null;
}

/** Returns the ids of the existing ancestors of a task, the nearest first. */
export function* ancestorsOf(store: TaskStore, id: string): Generator<string, void, undefined> {
  // What was brought in from elsewhere may say anything of its parents.
  const seen = new Set([id]);
  for (let at = id; ;) {
    const { parent } = foldLog(store, at).spec;
    if (parent === null || seen.has(parent) || !isId(parent) || !store.exists(parent)) return;
    seen.add(parent);
    yield parent;
    at = parent;
  }
}

/**
 * Sends a request to the process that owns a task. A refusal is a reply. Throws MusterError as `sendControlRequest`
 * does, and `NOT_FOUND` that names the process if it lives and does not listen.
 */
export async function askProcess(
  { store, dataDir }: TaskDirectory,
  owner: TaskOwner,
  request: ControlRequest,
  {
    timeoutMs = ANSWER_MS,
    isStillOwner = () => store.getOwner(request.task)?.token === owner.token,
  }: AskOptions = {},
): Promise<ControlReply> {
  const path = controlSocketPath({ dataDir, token: owner.token });
  const giveUpAt = performance.now() + LISTENS_AFTER_MS;
  for (;;) {
    try {
      return await sendControlRequest(path, request, { timeoutMs });
    } catch (thrown) {
      const isNobody = thrown instanceof MusterError && thrown.code === 'NOT_FOUND';
      if (!isNobody) throw thrown;
      if (!isStillOwner() || performance.now() > giveUpAt)
        throw notListening(owner, request, thrown);
    }
    await sleep(LOOK_MS);
  }
}

function notListening({ pid, host }: TaskOwner, { task }: ControlRequest, cause: unknown) {
  return new MusterError(
    'NOT_FOUND',
    `process ${pid} on ${host} has task ${task} and does not listen for other terminals: ask there, or end it with kill ${pid}`,
    { cause },
  );
}

/** Returns the text of a reply, and throws an error reply. */
export function replyText(reply: ControlReply): string {
  if (reply.ok) return reply.text;
  const { code, message, retryable } = reply.error;
  throw new MusterError(code, message, { retryable });
}
