import type { NoticeLevel, TaskEvent } from '../../../protocol/events/event.ts';
import { formatServerMessage, toNoticeLevel } from '../../../protocol/server-message.ts';
import { summarizeQuotedItem, type QuotedItem } from '../../../protocol/quoted-item.ts';
import { cutWithNote } from './cut-text.ts';
import type { EndStatus } from '../../../protocol/result.ts';
import type { TodoItem } from '../../../protocol/tool.ts';
import type { TextDiff } from './text-diff.ts';

/** An entry of a conversation, with everything that a view shows. It never changes; a new entry replaces it instead. */
export type Entry = { readonly key: number } & EntryBody;

export type EntryBody =
  | MessageEntry
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | CallEntry
  | ChildEntry
  | ShellEntry
  | { readonly kind: 'note'; readonly level: NoticeLevel; readonly text: string }
  /** A request that is sent again, one entry for all tries of it. */
  | RetryEntry
  /** The end of a piece of work, from a message to the answer. The cost is null if it is not known. */
  | {
      readonly kind: 'worked';
      readonly ms: number;
      readonly tokens: number;
      readonly costUsd: number | null;
    }
  /** The end of the task. `reason` is null if the entry above names the reason. */
  | { readonly kind: 'ended'; readonly status: EndStatus; readonly reason: string | null }
  /** The output of a slash command. */
  | { readonly kind: 'page'; readonly title: string; readonly lines: readonly string[] };

/** Returns the level and the text of the note about an event. */
export function describeNotice(
  event: Extract<TaskEvent, { type: 'notified' | 'server.logged' | 'warning' }>,
): readonly [NoticeLevel, string] {
  if (event.type === 'notified') return [event.level, event.message];
  if (event.type === 'warning') return ['warning', event.message];
  return [toNoticeLevel(event.level), formatServerMessage(event)];
}

/** The tries of one request. */
export interface RetryEntry {
  readonly kind: 'retry';
  readonly turn: number;
  /** The reason why the last try failed. */
  readonly because: string;
  /** The number of failed tries. */
  readonly failed: number;
  /** The maximum number of tries; null if it is not known. */
  readonly maxTries: number | null;
  /** The steady time of the next try in milliseconds; null once the request was answered or given up. */
  readonly nextAt: number | null;
}

/** An entry that can be selected, to unfold it or to show its full text. The others show everything in a line or two. */
export type SelectableEntry = Exclude<
  Entry,
  { readonly kind: 'note' | 'ended' | 'child' | 'retry' | 'worked' }
>;

const SHORT_KINDS: ReadonlySet<string> = new Set(['note', 'ended', 'child', 'retry', 'worked']);

export function isSelectable(entry: Entry): entry is SelectableEntry {
  return !SHORT_KINDS.has(entry.kind);
}

/** A message of the user or of the parent task. `unread` is true until a request contains the message. */
export interface MessageEntry {
  readonly kind: 'message';
  readonly id: string;
  readonly text: string;
  readonly unread: boolean;
  /** The id of the task that wrote the message; absent for a message of the user. */
  readonly from?: string;
  /** Attachments, one line each. Absent if there are none. */
  readonly attachments?: readonly string[];
  /** The text of the prompt of an MCP server that the message sends. Absent for other messages. */
  readonly prompt?: string;
}

/** Creates the entry of a message that no request contains yet. */
export function createMessageEntry(
  id: string,
  text: string,
  enclosed: readonly QuotedItem[] = [],
): MessageEntry {
  const message = { kind: 'message', id, text: cutWithNote(text), unread: true } as const;
  if (enclosed.length === 0) return message;
  const prompt = enclosed.find(({ kind }) => kind === 'prompt')?.text;
  return {
    ...message,
    attachments: enclosed.filter(({ kind }) => kind !== 'prompt').map(summarizeQuotedItem),
    ...(prompt === undefined ? {} : { prompt: cutWithNote(prompt) }),
  };
}

export type CallState = 'requested' | 'running' | 'done' | 'failed' | 'stopped' | 'refused';

/** A task that a call has created or resumed. */
export interface CalledTask {
  readonly id: string;
  /** Whether the call does not wait for the task. */
  readonly isBackground: boolean;
  /** The status with which the task ended; null while it is at work. */
  readonly status: EndStatus | null;
  /** Set if the user refused a call of the task. */
  readonly hasRefusal?: true;
}

/** The end of a task in the background. A task that was resumed can end several times. */
export interface ChildEntry {
  readonly kind: 'child';
  readonly id: string;
  /** The agent and the description of the task; empty if they are not known. */
  readonly subject: string;
  readonly status: EndStatus;
  /** Set if the user refused a call of the task. */
  readonly hasRefusal?: true;
  /** Whether the task had ended before and was resumed. */
  readonly isAgain: boolean;
  readonly tokens: number;
  readonly costUsd: number | null;
}

export interface CallEntry {
  readonly kind: 'call';
  readonly callId: string;
  readonly tool: string;
  /** The argument that says what the call is about. */
  readonly subject: string;
  readonly state: CallState;
  readonly startedAt: number | null;
  readonly ms: number | null;
  /** The text changes that its arguments request. */
  readonly edits: readonly TextDiff[];
  /** The hash of the former content of the file that it has changed; null if there is none. */
  readonly formerContent: string | null;
  /** The beginning of its result. */
  readonly output: string;
  /** The number of lines of the full result. */
  readonly outputLines: number;
  /** The last lines of the output of a command, while it runs and after its end. */
  readonly tail: readonly string[];
  /** The exit code of a command that has ended; null if there is none. */
  readonly exitCode: number | null;
  /** The plan of ExitPlanMode or the question of AskUser, as Markdown; null for other calls. */
  readonly document: string | null;
  /** The list that a call of TodoWrite has set; null for other calls. */
  readonly todos: readonly TodoItem[] | null;
  /** The user's answer to the question of the call; null if there is none, or if it was a plain permission. */
  readonly answer: string | null;
  /** The agent of a Task call; absent if the call does not name it. */
  readonly agent?: string;
  /** The tasks of the call, in the order in which they were created. Absent if there are none. */
  readonly tasks?: readonly CalledTask[];
}

/** A shell command that the user ran. */
export interface ShellEntry {
  readonly kind: 'shell';
  readonly command: string;
  /** Whether the output goes with the next message. */
  readonly isShared: boolean;
  /** The end of its output. */
  readonly output: string;
  /** The number of lines of the full output. */
  readonly outputLines: number;
  /** The outcome; null while it runs. */
  readonly outcome: string | null;
}

/** A change of a shell entry, while its command runs or when the command ends. */
export type ShellChange = Pick<ShellEntry, 'output' | 'outputLines' | 'outcome'>;
