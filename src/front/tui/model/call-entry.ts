import type { TaskEvent } from '../../../protocol/events/event.ts';
import type { CallDetails, TodoItem } from '../../../protocol/tool.ts';
import {
  addLineNumbers,
  callDocument,
  calledAgent,
  lastLines,
  replacementOf,
  textChanges,
  withFileContext,
  withoutExitNote,
} from './call-details.ts';
import { callSubject } from '../../../report/call-subject.ts';
import { linesIn, textStart } from './cut-text.ts';
import type { CallEntry, CallState } from './entry.ts';
import { MCP_CALL, readSentCall } from '../../../protocol/sent-call.ts';

/** The maximum length of the kept beginning of a result. */
export const MAX_OUTPUT = 4 * 1024;
/** The maximum number of items of a todo list, and the maximum length of an item. */
const MAX_TODOS = 50;
const MAX_TODO = 400;

export type StartedCall = Extract<TaskEvent, { type: 'call.started' }>;
type RequestedCall = Pick<StartedCall, 'callId' | 'tool' | 'input'>;
type EndedCall = Extract<TaskEvent, { type: 'call.ended' }>;
/** The end of a call. A refused call has no duration and no facts. */
export type CallEnd = Pick<EndedCall, 'callId' | 'tool' | 'text'> &
  Pick<CallEntry, 'ms'> &
  Partial<Pick<EndedCall, 'facts'>>;

/** A report about a running call: a line, or the last lines of its output. */
export interface CallProgress {
  readonly line: string;
  readonly lines?: readonly string[];
}

/** Creates the entry of a call that a message requests. */
export function newCall({ callId, ...sent }: RequestedCall): CallEntry {
  const { name: tool, input } = readSentCall({ name: sent.tool, input: sent.input });
  const agent = calledAgent(tool, input);
  return {
    kind: 'call',
    callId,
    tool,
    ...(agent !== null && { agent }),
    subject: callSubject(tool, input),
    state: 'requested',
    startedAt: null,
    ms: null,
    edits: textChanges(tool, input),
    formerContent: null,
    output: '',
    outputLines: 0,
    tail: [],
    exitCode: null,
    document: callDocument(tool, input),
    todos: null,
    answer: null,
  };
}

/** Returns an ended call with its result. */
export function endedCall(
  call: CallEntry,
  { tool, text: result, ms, facts }: CallEnd,
  state: CallState,
): CallEntry {
  const command = facts?.commands?.at(-1);
  const text = command === undefined ? result : withoutExitNote(result);
  return {
    ...call,
    // The event names the tool that a call of McpCall was about.
    tool: call.tool === MCP_CALL ? tool : call.tool,
    state,
    ms,
    edits: addLineNumbers(call.edits, tool, state === 'done' ? text : ''),
    formerContent: state === 'done' ? findFormerContent(facts) : null,
    output: textStart(text, MAX_OUTPUT),
    outputLines: linesIn(text),
    tail: command === undefined ? [] : lastLines(text),
    exitCode: command?.exitCode ?? null,
  };
}

/** Returns the hash of the content before the change of a file by a tool; null if there is none. */
export function findFormerContent(facts: CallDetails | undefined): string | null {
  const [change] = facts?.changed ?? [];
  return change === undefined || change.byCommand === true ? null : change.before;
}

/** Returns a running call with the last lines of its output. */
export function callWithProgress(call: CallEntry, progress: CallProgress): CallEntry {
  if (call.state !== 'running') return call;
  return { ...call, tail: tailWithProgress(call.tail, progress) };
}

/** Returns the last lines of an output after a report. A single line is added to the lines before. */
export function tailWithProgress(
  tail: readonly string[],
  { line, lines }: CallProgress,
): readonly string[] {
  return lastLines((lines ?? [...tail, line]).join('\n'));
}

/** Returns a call of which `former` was the content of its file: its change gets the unchanged lines around it. */
export function callWithFormerContent(call: CallEntry, former: string): CallEntry {
  const [edit] = call.edits;
  if (edit === undefined || call.edits.length > 1 || edit.dropped > 0) return call;
  if (call.tool === 'Edit') return { ...call, edits: [withFileContext(edit, former)] };
  return call.tool === 'Write' ? { ...call, edits: [replacementOf(edit, former)] } : call;
}

/** Returns a call with the todo list that it sets. */
export function callWithTodos(call: CallEntry, items: readonly TodoItem[]): CallEntry {
  const todos = items.slice(0, MAX_TODOS).map(({ content, status }) => {
    return { status, content: textStart(content, MAX_TODO) };
  });
  return { ...call, todos };
}

/** Returns the state of an ended call. A call that was stopped has not failed. */
export function toCallState(error: string | null): CallState {
  if (error === null) return 'done';
  return error === 'CANCELLED' ? 'stopped' : 'failed';
}
