import type { NoticeLevel } from '../../../protocol/events/event.ts';
import type { EndStatus } from '../../../protocol/result.ts';
import type { TextDiff } from './text-diff.ts';

/** An entry of a conversation, with everything that a view shows. It never changes; a new entry replaces it instead. */
export type Entry = { readonly key: number } & EntryBody;

export type EntryBody =
  | MessageEntry
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | CallEntry
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

/** A message of the user or of the parent task. `unread` is true until a request contains the message. */
export interface MessageEntry {
  readonly kind: 'message';
  readonly id: string;
  readonly text: string;
  readonly unread: boolean;
  /** Attachments, one line each. Absent if there are none. */
  readonly attachments?: readonly string[];
}

export type CallState = 'requested' | 'running' | 'done' | 'failed' | 'stopped' | 'refused';

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
  /** The beginning of its result. */
  readonly output: string;
  /** The number of lines of the full result. */
  readonly outputLines: number;
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
