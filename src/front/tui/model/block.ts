import type { NoticeLevel } from '../../../protocol/event.ts';
import type { EndStatus } from '../../../protocol/result.ts';
import type { TextDiff } from './text-diff.ts';

/** One thing in a conversation, as much of it as a view needs. Never changed: another one takes its place. */
export type Block = { readonly key: number } & BlockBody;

export type BlockBody =
  | SaidBlock
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | CallBlock
  | ShellBlock
  | { readonly kind: 'note'; readonly level: NoticeLevel; readonly text: string }
  /** `because`: null where it stands above. */
  | { readonly kind: 'ended'; readonly status: EndStatus; readonly because: string | null }
  /** What a command of the user's has to say. */
  | { readonly kind: 'page'; readonly title: string; readonly lines: readonly string[] };

/** What a person, or the parent, said. `unread`: it stands in no request yet. */
export interface SaidBlock {
  readonly kind: 'said';
  readonly id: string;
  readonly text: string;
  readonly unread: boolean;
  /** What went along with it, a line each. Absent: nothing. */
  readonly beside?: readonly string[];
}

export type CallState = 'made' | 'running' | 'done' | 'failed' | 'stopped' | 'refused';

export interface CallBlock {
  readonly kind: 'call';
  readonly callId: string;
  readonly tool: string;
  /** What it is about. */
  readonly subject: string;
  readonly state: CallState;
  readonly startedAt: number | null;
  readonly ms: number | null;
  /** The changes of text that its arguments ask for. */
  readonly edits: readonly TextDiff[];
  /** The beginning of what came of it. */
  readonly output: string;
  /** Lines of all that came of it. */
  readonly outputLines: number;
}

/** A command that the person ran themselves. */
export interface ShellBlock {
  readonly kind: 'shell';
  readonly command: string;
  /** It goes along with the next message. */
  readonly isShared: boolean;
  /** The end of what it has printed. */
  readonly output: string;
  /** Lines of all of it. */
  readonly outputLines: number;
  /** How it ended; null: it runs. */
  readonly outcome: string | null;
}
