import { setTimeout as sleep } from 'node:timers/promises';
import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError, type ErrorInfo } from '../../base/errors.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import type { TaskOwner } from '../../store/task-store.ts';
import type { ControlRequest } from '../../control/protocol.ts';
import { askProcess, ancestorProcess, replyText, type TaskDirectory } from './ask-process.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The maximum number of tries if the task ends or changes its owner between the check and the request. */
const TRIES = 10;
const LOOK_MS = 50;

/** A message to a task, and how the task continues. */
export interface TaskMessage {
  /** The text, or null to only continue the task. */
  readonly text: string | null;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** The outcome in the receiving process, for people. */
export interface SentMessage {
  readonly id: string;
  readonly pid: number;
  readonly text: string;
}

/**
 * Returns the process that receives a message for a task: its owner or, once it has ended, that of its nearest
 * running ancestor. Returns null if there is none, and the caller has to continue the task.
 */
export function processFor(place: TaskDirectory, state: TaskState): TaskOwner | null {
  const { id } = state.spec;
  return state.end === null ? place.store.getOwner(id) : ancestorProcess(place, id);
}

/** Sends a message to a task. Returns null if no process can receive it. Throws MusterError. */
export async function sendToTask(
  place: TaskDirectory,
  id: string,
  message: TaskMessage,
): Promise<SentMessage | null> {
  for (let tries = 1; ; tries += 1) {
    const state = foldLog(place.store, id);
    const owner = processFor(place, state);
    if (owner === null) return null;
    const { pid } = owner;
    if (state.end === null && message.text === null) {
      return { id, pid, text: `task ${id} is at work already` };
    }
    const isStillOwner = () => processFor(place, foldLog(place.store, id))?.token === owner.token;
    const request = requestFor(state, message);
    const reply = await askProcess(place, owner, request, { isStillOwner });
    if (reply.ok || !mayPass(reply.error) || tries === TRIES) {
      return { id, pid, text: replyText(reply) };
    }
    await sleep(LOOK_MS);
  }
}

/** Returns whether an error may pass, because the task has just ended or got an owner. */
function mayPass({ code, retryable }: ErrorInfo): boolean {
  return retryable || code === 'NOT_FOUND' || code === 'CONFLICT';
}

function requestFor(state: TaskState, { text, model, maxTurns }: TaskMessage): ControlRequest {
  const task = state.spec.id;
  if (state.end === null && text !== null) return { op: 'send', task, message: text };
  return {
    op: 'resume',
    task,
    ...dropMissing({ prompt: text, model, max_turns: maxTurns }),
  };
}

/** Sends a foreground task to the background. Throws MusterError if it cannot. */
export async function detachTask(place: TaskDirectory, id: string): Promise<SentMessage> {
  const { store } = place;
  const state = foldLog(store, id);
  if (state.end !== null) {
    throw new MusterError('INVALID_PARAM', `task ${id} has ended: ${state.status}`);
  }
  const owner = store.getOwner(id);
  if (owner === null) {
    throw new MusterError(
      'NOT_FOUND',
      `no process works on task ${id}: \`muster tasks resume ${id}\` makes it go on`,
    );
  }
  const { pid } = owner;
  if (isInBackground(place, state)) {
    return { id, pid, text: `task ${id} is in the background already` };
  }
  const reply = await askProcess(place, owner, { op: 'background', task: id });
  return { id, pid, text: replyText(reply) };
}

function isInBackground({ store }: TaskDirectory, { spec }: TaskState): boolean {
  if (spec.parent === null || !store.exists(spec.parent)) return false;
  return foldLog(store, spec.parent).children.get(spec.id)?.background === true;
}
