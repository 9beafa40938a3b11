import { describeAcceptance } from '../../../protocol/acceptance.ts';
import { describeRequest } from '../../../report/request-line.ts';
import { describeCompaction } from '../../../protocol/compaction-text.ts';
import { describeHookRun, hasFailedHook } from '../../../protocol/hook-text.ts';
import type { NoticeLevel, TaskEvent } from '../../../protocol/events/event.ts';
import type { AssistantMessage } from '../../../protocol/message.ts';
import {
  addTodos,
  beginChild,
  endChild,
  moveChildToBackground,
  replaceCall,
  type KnownChild,
} from './call-entries.ts';
import { createMessageEntry } from './entry.ts';
import type { Entry, EntryBody, CallEntry, CallState, MessageEntry } from './entry.ts';
import { cutWithNote, textStart } from './cut-text.ts';
import {
  isFinalAnswer,
  measureWork,
  retryEntry,
  workedEntry,
  type RetriedTurn,
  type OngoingWork,
} from './work.ts';
import { describeAnswer } from './call-details.ts';
import { describeNotice } from './entry.ts';
import { emptyStream, endsAnswer, type AnswerStream } from './answer-stream.ts';
import {
  endedCall,
  MAX_OUTPUT,
  newCall,
  toCallState,
  type CallEnd,
  type StartedCall,
} from './call-entry.ts';

/** The number of entries that stay in memory. Older entries are only in the log. */
const MAX_ENTRIES = 400;
/** The number of keys reserved for the entries of one event. */
const KEYS_OF_EVENT = 1_024;
/** The maximum number of messages that wait to be read. */
const MAX_WAITING = 100;
/** The conversation of one task: a fold of its events and of the text that streams in, with bounded memory. The functions
 * of this file change it in place. */
export interface Transcript {
  /** The id of the task, or null before it has started. */
  task: string | null;
  readonly entries: Entry[];
  /** The number of older entries that are only in the log of the task. */
  dropped: number;
  /** The number of dropped entries that can't be read back: those of other conversations, and those that no log holds. */
  unreadable: number;
  /** The lowest key of the next entry; keys increase. */
  nextKey: number;
  /** The lowest key of the task's own entries. */
  keyBase: number;
  /** Receives the entries that are dropped. */
  readonly onDropped: ((gone: readonly Entry[]) => void) | null;
  /** Older entries that were read back because they are in view; null if no older entries are loaded. */
  earlier: Earlier | null;
  /** The number of the newest event; -1 before the first one. */
  lastSeq: number;
  /** Messages that no request contains yet. They are shown below the answer that is being written. */
  readonly waiting: MessageEntry[];
  /** The tasks below, by id, for the entries of their ends. The oldest ones are forgotten. */
  children: ReadonlyMap<string, KnownChild>;
  readonly stream: AnswerStream;
  /** The work since the last answer; null while the task is idle. */
  work: OngoingWork | null;
  /** The maximum number of tries of a request; null if it is not known. */
  maxTries: number | null;
}

/** Older entries that were read back from the log, around those in view. */
export interface Earlier {
  readonly entries: readonly Entry[];
  /** The number of entries before the first of these. */
  readonly older: number;
  /** The number of entries between the last of these and the entries in memory at the time of reading. */
  readonly newer: number;
  /** The number of entries that the transcript had dropped at that time. */
  readonly dropped: number;
}

export function emptyTranscript(
  task: string | null,
  { keyBase = 0, onDropped = null }: Partial<Pick<Transcript, 'keyBase' | 'onDropped'>> = {},
): Transcript {
  return {
    task,
    entries: [],
    dropped: 0,
    unreadable: 0,
    nextKey: keyBase,
    keyBase,
    onDropped,
    earlier: null,
    lastSeq: -1,
    waiting: [],
    children: new Map(),
    stream: emptyStream(),
    work: null,
    maxTries: null,
  };
}

/**
 * Adds an entry and returns its key. The key is computed from the number of the event, so that the entry has the same
 * key when it is read back from the log.
 */
export function addEntry(transcript: Transcript, body: EntryBody): number {
  const { entries, keyBase, lastSeq } = transcript;
  const key = Math.max(transcript.nextKey, keyBase + (lastSeq + 1) * KEYS_OF_EVENT);
  entries.push({ key, ...body });
  transcript.nextKey = key + 1;
  // Drop many entries at once, because removing entries from the start moves all others.
  if (entries.length < MAX_ENTRIES * 1.25) return key;
  const gone = entries.splice(0, entries.length - MAX_ENTRIES);
  const own = gone.filter((entry) => entry.key >= keyBase).length;
  transcript.dropped += own;
  transcript.unreadable += gone.length - own;
  transcript.onDropped?.(gone);
  return key;
}

/** Returns the number of the event that added the entry with a key. */
export function seqOfKey(key: number, keyBase: number): number {
  return Math.floor((key - keyBase) / KEYS_OF_EVENT) - 1;
}

/** Continues the transcript with another task. The present entries stay above those of the new task. */
export function beginTask(transcript: Transcript): void {
  for (const said of transcript.waiting.splice(0)) addEntry(transcript, said);
  transcript.task = null;
  transcript.lastSeq = -1;
  transcript.keyBase = transcript.nextKey;
  transcript.unreadable += transcript.dropped;
  transcript.dropped = 0;
  transcript.earlier = null;
}

/** Adds an event of its task. An event that was added before changes nothing. */
export function applyToTranscript(transcript: Transcript, event: TaskEvent): void {
  // The event may be in the transcript already, read from the log before the event arrived.
  if (endsAnswer(event)) Object.assign(transcript.stream, emptyStream());
  if (event.seq <= transcript.lastSeq) return;
  transcript.lastSeq = event.seq;
  transcript.work = measureWork(transcript.work, event);
  const add = (body: EntryBody) => addEntry(transcript, body);
  const note = (level: NoticeLevel, text: string) =>
    add({ kind: 'note', level, text: textStart(text, MAX_OUTPUT) });
  switch (event.type) {
    case 'task.created':
      if (event.spec.prompt !== '') {
        const { prompt, enclosed } = event.spec;
        add({ ...createMessageEntry('prompt', prompt, enclosed), unread: false });
      }
      return;
    case 'input.queued': {
      const { input } = event;
      if (input.kind === 'message' || input.kind === 'prompt') {
        const message = createMessageEntry(input.id, input.text, input.enclosed);
        transcript.waiting.push(input.from === 'user' ? message : { ...message, from: input.from });
        // If too many messages wait, the oldest one becomes an entry before it is read.
        if (transcript.waiting.length > MAX_WAITING) transcript.waiting.splice(0, 1).forEach(add);
      }
      return;
    }
    case 'input.withdrawn': {
      const { waiting } = transcript;
      const kept = waiting.filter(({ id }) => !event.ids.includes(id));
      waiting.splice(0, waiting.length, ...kept);
      return;
    }
    case 'turn.started':
      for (const id of event.inputs) markRead(transcript, id);
      return;
    case 'turn.ended':
      settleRetry(transcript);
      addAnswer(transcript, event.message);
      if (isFinalAnswer(event)) endWork(transcript, event);
      return;
    case 'turn.retried':
      if (event.failure.kind !== 'rate_limit') addRetry(transcript, event);
      return;
    case 'task.started':
      if (event.settings !== undefined) transcript.maxTries = event.settings.retries + 1;
      return;
    case 'turn.accepted':
      settleRetry(transcript);
      return;
    case 'turn.failed':
      settleRetry(transcript);
      if (event.text !== undefined) add({ kind: 'answer', text: cutWithNote(event.text) });
      if (event.failure.kind !== 'cancelled') note('error', event.failure.message);
      return;
    case 'turn.interrupted':
      note('info', event.because);
      endWork(transcript, event);
      return;
    case 'call.started':
      startCall(transcript, event);
      return;
    case 'request.ended':
      note(event.failure === null ? 'info' : 'warning', describeRequest(event));
      return;
    case 'call.ended':
      endCall(transcript, event, toCallState(event.error));
      return;
    case 'todos.set':
      addTodos(transcript, event.items);
      return;
    case 'question.answered':
      if (event.by === 'user') {
        const answer = describeAnswer(event.answer);
        replaceCall(transcript, event.callId, (call) => ({ ...call, answer }));
      }
      return;
    case 'call.refused':
      endCall(transcript, { ...event, ms: null }, 'refused');
      return;
    case 'notified':
    case 'server.logged':
    case 'warning':
      note(...describeNotice(event));
      return;
    case 'hook.ran':
      for (const line of describeHookRun(event))
        note(hasFailedHook(event) ? 'warning' : 'info', line);
      return;
    case 'acceptance.checked':
      note(event.outcome.isPassed ? 'info' : 'warning', describeAcceptance(event.outcome));
      return;
    case 'limit.reached':
      note('warning', `the limit ${event.limit} = ${event.value} is reached`);
      return;
    case 'child.created':
    case 'child.resumed':
      beginChild(transcript, event);
      return;
    case 'child.ended': {
      const ended = endChild(transcript, event);
      if (ended !== null) add(ended);
      return;
    }
    case 'child.detached':
      moveChildToBackground(transcript, event.child);
      note('info', `task ${event.child.slice(0, 6)} continues in the background`);
      return;
    case 'context.cleared':
    case 'context.summarised':
    case 'context.dropped':
    case 'summary.refused':
      note('info', describeCompaction(event));
      return;
    case 'task.reused':
      add({ kind: 'answer', text: cutWithNote(event.text) });
      return;
    case 'task.rewound':
      note('info', 'the conversation was put back to here');
      return;
    case 'task.ended':
      if (event.end.status !== 'completed') {
        const { status, because: reason } = event.end;
        const last = transcript.entries.at(-1);
        const isSaid = last?.kind === 'note' && last.text === reason;
        add({ kind: 'ended', status, reason: isSaid ? null : reason });
      }
      endWork(transcript, event);
      return;
    default:
  }
}

/** Ends the work, and adds an entry about it if it took long. */
function endWork(transcript: Transcript, event: TaskEvent): void {
  const worked = workedEntry(transcript.work, event);
  transcript.work = null;
  if (worked !== null) addEntry(transcript, worked);
}

/** Adds a failed try to the entry of its request. */
function addRetry(transcript: Transcript, event: RetriedTurn): void {
  const { entries, maxTries } = transcript;
  const last = entries.at(-1);
  const earlier = last?.kind === 'retry' && last.turn === event.turn ? last : null;
  const entry = retryEntry(event, { earlier, maxTries });
  if (earlier === null) addEntry(transcript, entry);
  else entries[entries.length - 1] = { key: earlier.key, ...entry };
}

/** Notes that the request of the last entry is not sent again. */
function settleRetry({ entries }: Transcript): void {
  const last = entries.at(-1);
  if (last?.kind === 'retry') entries[entries.length - 1] = { ...last, nextAt: null };
}

/** Whether messages of the user wait to be read. Messages of other tasks can't be taken back. */
export function hasWaitingMessages({ waiting }: Pick<Transcript, 'waiting'>): boolean {
  return waiting.some(({ from }) => from === undefined);
}

function addAnswer(transcript: Transcript, message: AssistantMessage): void {
  for (const part of message.content) {
    if (part.type === 'tool_call') {
      addEntry(transcript, newCall({ callId: part.id, tool: part.name, input: part.input }));
    } else if (part.text.trim() !== '') {
      const kind = part.type === 'text' ? 'answer' : 'thinking';
      addEntry(transcript, { kind, text: cutWithNote(part.text) });
    }
  }
}

function startCall(transcript: Transcript, event: StartedCall): void {
  // The event has the canonical name of the tool.
  const started: CallEntry = { ...newCall(event), state: 'running', startedAt: event.ts };
  // The user may have answered a question about the call before it starts, and a call that runs again after a crash
  // keeps its tasks.
  const start = ({ answer, tasks }: CallEntry): CallEntry => ({
    ...started,
    answer,
    ...(tasks !== undefined && { tasks }),
  });
  if (!replaceCall(transcript, event.callId, start)) addEntry(transcript, started);
}

function endCall(transcript: Transcript, event: CallEnd, state: CallState): void {
  const end = (call: CallEntry) => endedCall(call, event, state);
  if (replaceCall(transcript, event.callId, end)) return;
  addEntry(transcript, end(newCall({ ...event, input: {} })));
}

/** Turns a waiting message into an entry once it has been read, so that it stands between the last answer and the next one. */
function markRead(transcript: Transcript, id: string): void {
  const at = transcript.waiting.findIndex((said) => said.id === id);
  for (const said of at === -1 ? [] : transcript.waiting.splice(at, 1)) {
    addEntry(transcript, { ...said, unread: false });
  }
}

/** A copy that can be changed without an effect on the original. */
export function copyTranscript(transcript: Transcript): Transcript {
  return {
    ...transcript,
    entries: [...transcript.entries],
    waiting: [...transcript.waiting],
    stream: { ...transcript.stream },
  };
}
