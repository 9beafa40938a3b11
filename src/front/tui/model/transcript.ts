import type { JsonValue } from '../../../base/json.ts';
import { plural } from '../../../base/text.ts';
import { compactionText } from '../../../protocol/compaction-text.ts';
import { enclosureLine, type Enclosure } from '../../../protocol/enclosure.ts';
import type { TaskEvent } from '../../../protocol/event.ts';
import type { AssistantMessage } from '../../../protocol/message.ts';
import type { Block, BlockBody, CallBlock, CallState, SaidBlock, ShellBlock } from './block.ts';
import { beginningOf, endOf, linesIn } from './cut-text.ts';
import { callSubject, placedChanges, textChanges } from './call-details.ts';

/** What older blocks give way to: all of them stand in the log. */
const MOST_BLOCKS = 400;
const MOST_TEXT = 64 * 1024;
/** An event of more entries than this takes keys of the next ones. */
const KEYS_OF_EVENT = 1_024;
const MOST_OUTPUT = 4 * 1024;
/** Of what was said and not read. */
const MOST_WAITING = 100;
/** Of an answer while it is written: its end is what is looked at. */
const MOST_STREAMED = 64 * 1024;

/** The conversation of one task: a fold of its events, bounded in memory, and what streams in meanwhile. */
export interface Transcript {
  /** Null: it has not begun. */
  task: string | null;
  readonly blocks: Block[];
  /** Older ones that are only in the log of the task. */
  dropped: number;
  /** Older ones of what was said before it: conversations that ended here, and what no log holds. */
  lost: number;
  /** The key of what comes next is this one or above: keys rise. */
  nextKey: number;
  /** Below which no key of the task's own entries is. */
  keyBase: number;
  /** Who gets the entries that give way; null: nobody. */
  readonly onDropped: ((gone: readonly Block[]) => void) | null;
  /** Older entries that were read again, since somebody looks at them; null: nobody does. */
  earlier: Earlier | null;
  /** Number of the newest event; -1: none. */
  lastSeq: number;
  /** What was said that stands in no request yet: it comes after what is being written, whatever that takes. */
  readonly waiting: SaidBlock[];
  /** Pieces of the answer that is being written. */
  readonly stream: { text: string; thinking: string };
}

/** Entries of a log that are older than those kept, around a place that somebody looks at. */
export interface Earlier {
  readonly blocks: readonly Block[];
  /** Entries of the log before the first one. */
  readonly older: number;
  /** Entries between the last one and those that were kept when they were read. */
  readonly newer: number;
  /** How many the transcript had dropped then. */
  readonly dropped: number;
}

export function emptyTranscript(
  task: string | null,
  { keyBase = 0, onDropped = null }: Partial<Pick<Transcript, 'keyBase' | 'onDropped'>> = {},
): Transcript {
  return {
    task,
    blocks: [],
    dropped: 0,
    lost: 0,
    nextKey: keyBase,
    keyBase,
    onDropped,
    earlier: null,
    lastSeq: -1,
    waiting: [],
    stream: { text: '', thinking: '' },
  };
}

/**
 * At the end. Its key follows from the event that it comes from, so that an entry which is read from the
 * log again has the same one. Returns its key.
 */
export function addBlock(transcript: Transcript, body: BlockBody): number {
  const { blocks, keyBase, lastSeq } = transcript;
  const key = Math.max(transcript.nextKey, keyBase + (lastSeq + 1) * KEYS_OF_EVENT);
  blocks.push({ key, ...body });
  transcript.nextKey = key + 1;
  // Some at a time, since the rest has to move up.
  if (blocks.length < MOST_BLOCKS * 1.25) return key;
  const gone = blocks.splice(0, blocks.length - MOST_BLOCKS);
  const own = gone.filter((block) => block.key >= keyBase).length;
  transcript.dropped += own;
  transcript.lost += gone.length - own;
  transcript.onDropped?.(gone);
  return key;
}

/** From here on it is the conversation of another task; what was said before stays above it. */
export function beginTask(transcript: Transcript): void {
  for (const said of transcript.waiting.splice(0)) addBlock(transcript, said);
  transcript.task = null;
  transcript.lastSeq = -1;
  transcript.keyBase = transcript.nextKey;
  transcript.lost += transcript.dropped;
  transcript.dropped = 0;
  transcript.earlier = null;
}

export function addStreamed(
  transcript: Transcript,
  kind: 'text' | 'thinking',
  piece: string,
): void {
  transcript.stream[kind] = endOf(transcript.stream[kind] + piece, MOST_STREAMED);
}

/** One more event of its task; one that it has seen changes nothing. */
export function applyToTranscript(transcript: Transcript, event: TaskEvent): void {
  if (event.seq <= transcript.lastSeq) return;
  transcript.lastSeq = event.seq;
  const add = (body: BlockBody) => addBlock(transcript, body);
  const note = (level: 'info' | 'warning' | 'error', text: string) =>
    add({ kind: 'note', level, text: beginningOf(text, MOST_OUTPUT) });
  switch (event.type) {
    case 'task.created':
      if (event.spec.prompt !== '') {
        const { prompt, enclosed } = event.spec;
        add({ kind: 'said', id: 'prompt', text: cut(prompt), unread: false, ...beside(enclosed) });
      }
      return;
    case 'input.queued': {
      const { input } = event;
      if (input.kind === 'message' || input.kind === 'prompt') {
        const { id, text, enclosed } = input;
        const said = { id, text: cut(text), unread: true, ...beside(enclosed) };
        transcript.waiting.push({ kind: 'said', ...said });
        // Of very many the oldest ones stand where they were said.
        if (transcript.waiting.length > MOST_WAITING) transcript.waiting.splice(0, 1).forEach(add);
      }
      return;
    }
    case 'turn.started':
      clearStream(transcript);
      for (const id of event.inputs) markRead(transcript, id);
      return;
    case 'turn.ended':
      clearStream(transcript);
      addAnswer(transcript, event.message);
      return;
    case 'turn.retried':
      clearStream(transcript);
      if (event.failure.kind !== 'rate_limit')
        note('warning', `${event.failure.message}; asked again`);
      return;
    case 'turn.failed':
      clearStream(transcript);
      if (event.text !== undefined) add({ kind: 'answer', text: cut(event.text) });
      if (event.failure.kind !== 'cancelled') note('error', event.failure.message);
      return;
    case 'turn.interrupted':
      note('info', event.because);
      return;
    case 'call.started':
      startCall(transcript, event);
      return;
    case 'call.ended':
      endCall(transcript, event, stateOf(event.error));
      return;
    case 'call.refused':
      endCall(transcript, { ...event, ms: null }, 'refused');
      return;
    case 'notified':
      note(event.level, event.message);
      return;
    case 'warning':
      note('warning', event.message);
      return;
    case 'limit.reached':
      note('warning', `the limit ${event.limit} = ${event.value} is reached`);
      return;
    case 'child.detached':
      note('info', `task ${event.child.slice(0, 6)} goes on in the background`);
      return;
    case 'context.cleared':
    case 'context.summarised':
    case 'context.dropped':
    case 'summary.refused':
      note('info', compactionText(event));
      return;
    case 'task.reused':
      add({ kind: 'answer', text: cut(event.text) });
      return;
    case 'task.rewound':
      note('info', `put back to event ${event.to}`);
      return;
    case 'task.ended':
      clearStream(transcript);
      if (event.end.status !== 'completed') {
        const { status, because } = event.end;
        const last = transcript.blocks.at(-1);
        const isSaid = last?.kind === 'note' && last.text === because;
        add({ kind: 'ended', status, because: isSaid ? null : because });
      }
      return;
    default:
  }
}

/** What somebody stopped has not failed. */
function stateOf(error: string | null): CallState {
  if (error === null) return 'done';
  return error === 'CANCELLED' ? 'stopped' : 'failed';
}

function beside(enclosed: readonly Enclosure[] = []): { readonly beside?: readonly string[] } {
  return enclosed.length === 0 ? {} : { beside: enclosed.map(enclosureLine) };
}

/** A command that the person runs; the key of its block. */
export function addShell(
  transcript: Transcript,
  { command, isShared }: Pick<ShellBlock, 'command' | 'isShared'>,
): number {
  const nothing = { output: '', outputLines: 0, outcome: null };
  return addBlock(transcript, { kind: 'shell', command, isShared, ...nothing });
}

/** Nothing where it has left the view. */
export function updateShell(
  { blocks }: Transcript,
  key: number,
  change: Pick<ShellBlock, 'output' | 'outputLines' | 'outcome'>,
): void {
  const at = blocks.findLastIndex((block) => block.key === key);
  const block = blocks[at];
  if (block?.kind === 'shell') blocks[at] = { ...block, ...change };
}

function clearStream({ stream }: Transcript): void {
  stream.text = '';
  stream.thinking = '';
}

function addAnswer(transcript: Transcript, message: AssistantMessage): void {
  for (const part of message.content) {
    if (part.type === 'tool_call') {
      addBlock(transcript, newCall({ callId: part.id, tool: part.name, input: part.input }));
    } else if (part.text.trim() !== '') {
      const kind = part.type === 'text' ? 'answer' : 'thinking';
      addBlock(transcript, { kind, text: cut(part.text) });
    }
  }
}

interface MadeCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

function newCall({ callId, tool, input }: MadeCall): CallBlock {
  return {
    kind: 'call',
    callId,
    tool,
    subject: callSubject(tool, input),
    state: 'made',
    startedAt: null,
    ms: null,
    edits: textChanges(tool, input),
    output: '',
    outputLines: 0,
  };
}

function startCall(transcript: Transcript, event: MadeCall & { readonly ts: number }): void {
  // Its name is canonical by now.
  const started: CallBlock = { ...newCall(event), state: 'running', startedAt: event.ts };
  if (!replaceCall(transcript, event.callId, () => started)) addBlock(transcript, started);
}

interface EndedCall {
  readonly callId: string;
  readonly tool: string;
  readonly text: string;
  readonly ms: number | null;
}

function endCall(
  transcript: Transcript,
  { callId, tool, text, ms }: EndedCall,
  state: CallBlock['state'],
): void {
  const output = beginningOf(text, MOST_OUTPUT);
  const outputLines = linesIn(text);
  const end = (call: CallBlock): CallBlock => ({
    ...call,
    state,
    ms,
    edits: placedChanges(call.edits, tool, state === 'done' ? text : ''),
    output,
    outputLines,
  });
  if (replaceCall(transcript, callId, end)) return;
  addBlock(transcript, end(newCall({ callId, tool, input: {} })));
}

/** Nobody works on the task: what was running has been left, and is at work again once it is told to be. */
export function leaveCalls({ blocks }: Transcript): void {
  for (const [at, block] of blocks.entries()) {
    if (block.kind !== 'call' || block.state !== 'running') continue;
    blocks[at] = { ...block, state: 'made', startedAt: null };
  }
}

function replaceCall(
  { blocks }: Transcript,
  callId: string,
  change: (call: CallBlock) => CallBlock,
): boolean {
  const at = blocks.findLastIndex((block) => block.kind === 'call' && block.callId === callId);
  const block = blocks[at];
  if (block?.kind !== 'call') return false;
  blocks[at] = { ...change(block), key: block.key };
  return true;
}

/** It stands where it was read: above what comes of it, and below what was being written when it was said. */
function markRead(transcript: Transcript, id: string): void {
  const at = transcript.waiting.findIndex((said) => said.id === id);
  for (const said of at === -1 ? [] : transcript.waiting.splice(at, 1)) {
    addBlock(transcript, { ...said, unread: false });
  }
}

function cut(text: string): string {
  const beginning = beginningOf(text, MOST_TEXT);
  const left = text.length - beginning.length;
  return left === 0 ? text : `${beginning}\n\n… ${plural(left, 'character')} more, in the log`;
}

/** A copy that can be changed without an effect on the original. */
export function copyTranscript(transcript: Transcript): Transcript {
  return {
    ...transcript,
    blocks: [...transcript.blocks],
    waiting: [...transcript.waiting],
    stream: { ...transcript.stream },
  };
}
