import { setTimeout as sleep } from 'node:timers/promises';
import { MusterError, type ErrorInfo } from '../../base/errors.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import type { TaskOwner } from '../../store/task-store.ts';
import type { ControlRequest } from '../../control/protocol.ts';
import { askProcess, ancestorProcess, replyText, type TaskDirectory } from './ask-process.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

const ANSWER_MS = 10_000;
/** How often a task may end, or be taken, between the look and the request. */
const TRIES = 10;
const LOOK_MS = 50;

/** What a task is told, and how it is to go on. */
export interface TaskMessage {
  /** Null: to go on. */
  readonly text: string | null;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** What became of it there, for people. */
export interface SentMessage {
  readonly id: string;
  readonly pid: number;
  readonly text: string;
}

/**
 * The process that takes a message for a task: the one that has it, or, once it has ended, the one of
 * the nearest task above it. Null: there is none, and whoever wants it to go on does that himself.
 */
export function processFor(place: TaskDirectory, state: TaskState): TaskOwner | null {
  const { id } = state.spec;
  return state.end === null ? place.store.owner(id) : ancestorProcess(place, id);
}

/** Tells a task something where it lives; null where it lives nowhere. Throws MusterError. */
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
    const isThere = () => processFor(place, foldLog(place.store, id))?.token === owner.token;
    const request = requestFor(state, message);
    const reply = await askProcess(place, owner, request, { timeoutMs: ANSWER_MS, isThere });
    if (reply.ok || !mayPass(reply.error) || tries === TRIES) {
      return { id, pid, text: replyText(reply) };
    }
    await sleep(LOOK_MS);
  }
}

/** It has ended, or was taken, just now. */
function mayPass({ code, retryable }: ErrorInfo): boolean {
  return retryable || code === 'NOT_FOUND' || code === 'CONFLICT';
}

function requestFor(state: TaskState, { text, model, maxTurns }: TaskMessage): ControlRequest {
  const task = state.spec.id;
  if (state.end === null && text !== null) return { op: 'send', task, message: text };
  return {
    op: 'resume',
    task,
    ...(text === null ? {} : { prompt: text }),
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { max_turns: maxTurns }),
  };
}

/** Sends a task that its parent waits for to the background. Throws MusterError where it can't. */
export async function detachTask(place: TaskDirectory, id: string): Promise<SentMessage> {
  const { store } = place;
  const state = foldLog(store, id);
  if (state.end !== null) {
    throw new MusterError('INVALID_PARAM', `task ${id} has ended: ${state.status}`);
  }
  const owner = store.owner(id);
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
  const isThere = () => store.owner(id)?.token === owner.token;
  const request = { op: 'background', task: id } as const;
  const reply = await askProcess(place, owner, request, { timeoutMs: ANSWER_MS, isThere });
  return { id, pid, text: replyText(reply) };
}

function isInBackground({ store }: TaskDirectory, { spec }: TaskState): boolean {
  if (spec.parent === null || !store.exists(spec.parent)) return false;
  return foldLog(store, spec.parent).children.get(spec.id)?.background === true;
}
