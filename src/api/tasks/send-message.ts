import { setTimeout as sleep } from 'node:timers/promises';
import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError, type ErrorInfo } from '../../base/errors.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import type { TaskOwner } from '../../store/task-store.ts';
import type { ControlRequest } from '../../control/protocol.ts';
import { askProcess, findAncestorOwner, getReplyText, type TaskDirectory } from './ask-process.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The maximum number of attempts, because the task may end or change its owner between the check and the request. */
const MAX_ATTEMPTS = 10;
const RETRY_DELAY_MS = 50;

/** A message to a task, and the options with which an ended task continues. */
export interface TaskMessage {
  /** The text, or null to continue the task without a message. */
  readonly text: string | null;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** The reply of the process that received a message. */
export interface SentMessage {
  readonly id: string;
  readonly pid: number;
  /** The outcome, for people. */
  readonly text: string;
}

/**
 * Returns the process that receives a message for a task: the owner of the task or, if the task has ended, the owner of
 * its nearest running ancestor. Returns null if there is none; the caller must then continue the task itself.
 */
export function findReceivingProcess(directory: TaskDirectory, state: TaskState): TaskOwner | null {
  const { id } = state.spec;
  return state.end === null ? directory.store.getOwner(id) : findAncestorOwner(directory, id);
}

/** Sends a message to a task. Returns null if no process can receive it. Throws MusterError. */
export async function sendToTask(
  directory: TaskDirectory,
  id: string,
  message: TaskMessage,
): Promise<SentMessage | null> {
  for (let attempt = 1; ; attempt += 1) {
    const state = foldLog(directory.store, id);
    const owner = findReceivingProcess(directory, state);
    if (owner === null) return null;
    const { pid } = owner;
    if (state.end === null && message.text === null) {
      return { id, pid, text: `task ${id} is already running` };
    }
    const isStillOwner = () =>
      findReceivingProcess(directory, foldLog(directory.store, id))?.token === owner.token;
    const request = createRequest(state, message);
    const reply = await askProcess(directory, owner, request, { isStillOwner });
    if (reply.ok || !isTransient(reply.error) || attempt === MAX_ATTEMPTS) {
      return { id, pid, text: getReplyText(reply) };
    }
    await sleep(RETRY_DELAY_MS);
  }
}

/** Checks whether the next attempt may succeed, because the task has just ended or got an owner. */
function isTransient({ code, retryable }: ErrorInfo): boolean {
  return retryable || code === 'NOT_FOUND' || code === 'CONFLICT';
}

function createRequest(state: TaskState, { text, model, maxTurns }: TaskMessage): ControlRequest {
  const task = state.spec.id;
  if (state.end === null && text !== null) return { op: 'send', task, message: text };
  return {
    op: 'resume',
    task,
    ...dropMissing({ prompt: text, model, max_turns: maxTurns }),
  };
}

/** Sends a foreground task to the background. Throws MusterError if this is not possible. */
export async function detachTask(directory: TaskDirectory, id: string): Promise<SentMessage> {
  const { store } = directory;
  const state = foldLog(store, id);
  if (state.end !== null) {
    throw new MusterError('INVALID_PARAM', `task ${id} has ended: ${state.status}`);
  }
  const owner = store.getOwner(id);
  if (owner === null) {
    throw new MusterError(
      'NOT_FOUND',
      `no process runs task ${id}: continue it with \`muster tasks resume ${id}\``,
    );
  }
  const { pid } = owner;
  if (isInBackground(directory, state)) {
    return { id, pid, text: `task ${id} is already in the background` };
  }
  const reply = await askProcess(directory, owner, { op: 'background', task: id });
  return { id, pid, text: getReplyText(reply) };
}

function isInBackground({ store }: TaskDirectory, { spec }: TaskState): boolean {
  if (spec.parent === null || !store.exists(spec.parent)) return false;
  return foldLog(store, spec.parent).children.get(spec.id)?.background === true;
}
