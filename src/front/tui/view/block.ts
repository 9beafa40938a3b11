import type { NoticeLevel } from '../../../protocol/event.ts';
import type { EndStatus } from '../../../protocol/result.ts';

/** One thing in a conversation, as much of it as a view needs. Never changed: another one takes its place. */
export type Block = { readonly key: number } & BlockBody;

export type BlockBody =
  /** What a person, or the parent, said. `unread`: it stands in no request yet. */
  | { readonly kind: 'said'; readonly id: string; readonly text: string; readonly unread: boolean }
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | CallBlock
  | { readonly kind: 'note'; readonly level: NoticeLevel; readonly text: string }
  | { readonly kind: 'ended'; readonly status: EndStatus; readonly because: string }
  /** What a command of the user's has to say. */
  | { readonly kind: 'page'; readonly title: string; readonly lines: readonly string[] };

export type CallState = 'made' | 'running' | 'done' | 'failed' | 'refused';

export interface CallBlock {
  readonly kind: 'call';
  readonly callId: string;
  readonly tool: string;
  /** What it is about. */
  readonly subject: string;
  readonly state: CallState;
  readonly startedAt: number | null;
  readonly ms: number | null;
  /** The change of text that its arguments ask for. */
  readonly edits: readonly TextChange[];
  /** The beginning of what came of it. */
  readonly output: string;
  /** Lines of all that came of it. */
  readonly outputLines: number;
}

export interface TextChange {
  /** Empty where the whole file is written. */
  readonly before: string;
  readonly after: string;
}
