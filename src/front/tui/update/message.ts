import type { QuestionAnswer, RewindPlan, SandboxState, TaskSignal } from '../../../api/index.ts';
import type { TaskEvent } from '../../../protocol/event.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { TaskState } from '../../../protocol/state.ts';
import type { ConversationStatus, LastPrompt, TerminalSize } from '../model/app-state.ts';
import type { ShellBlock } from '../model/block.ts';
import type { SearchMatch } from '../model/entry-search.ts';
import type { Earlier, Transcript } from '../model/transcript.ts';
import type { KeyMeaning } from './key-action.ts';

/** A step to the next match (1) or the previous one (-1). */
export type Direction = 1 | -1;

/** A request that may have to wait for older entries. `isLoaded` is set once these have been read. */
export type BrowseMessage =
  | { readonly type: 'scroll'; readonly lines: number; readonly isLoaded?: true }
  | { readonly type: 'choose-entry'; readonly by: Direction; readonly isLoaded?: true }
  | { readonly type: 'go-to-match'; readonly key: number; readonly by: Direction };

/** The result of looking up a conversation that `/resume` names. */
export interface ConversationFound {
  readonly id: string;
  readonly parent: string | null;
  readonly root: string;
  /** The process that runs it; null if none does. */
  readonly ownerPid: number | null;
}

/** Everything that can happen to the terminal UI. */
export type Message =
  | BrowseMessage
  /** A key was pressed; `keyAction` says what it means. */
  | { readonly type: 'key-pressed'; readonly meaning: KeyMeaning }
  /** The editor's text has changed. */
  | { readonly type: 'typed'; readonly text: string }
  | { readonly type: 'submitted'; readonly text: string }
  /** A frame is about to be drawn. */
  | { readonly type: 'frame'; readonly size: TerminalSize }
  /** Runs a slash command. */
  | { readonly type: 'run-command'; readonly name: string; readonly argument: string }
  // Tasks
  | { readonly type: 'task-event'; readonly event: TaskEvent; readonly task: TaskState }
  | { readonly type: 'task-signal'; readonly signal: TaskSignal }
  /** A task was read from its log. `isAsking` says whether its open questions can be answered. */
  | { readonly type: 'task-found'; readonly task: TaskState; readonly isAsking: boolean }
  | { readonly type: 'tasks-passed-over'; readonly count: number }
  | {
      readonly type: 'task-opened';
      readonly task: string;
      readonly transcript: Transcript;
    }
  // Texts for the user
  | { readonly type: 'hint'; readonly text: string }
  | { readonly type: 'note'; readonly level: 'info' | 'warning' | 'error'; readonly text: string }
  /** Another process did not do what it was asked for. */
  | { readonly type: 'request-failed'; readonly text: string }
  | { readonly type: 'page'; readonly title: string; readonly lines: readonly string[] }
  // The conversation
  | { readonly type: 'conversation-changed'; readonly status: Partial<ConversationStatus> }
  | { readonly type: 'conversation-idle' }
  | { readonly type: 'conversation-found'; readonly found: ConversationFound }
  | {
      readonly type: 'conversation-loaded';
      readonly id: string;
      readonly main: Transcript;
    }
  /** The chosen mode is in force now. */
  | { readonly type: 'mode-taken'; readonly mode: PermissionMode }
  | { readonly type: 'model-set'; readonly name: string }
  | { readonly type: 'send-failed'; readonly text: string; readonly reason: string }
  // Questions
  | { readonly type: 'answer'; readonly answer: QuestionAnswer }
  | { readonly type: 'answer-accepted'; readonly question: string }
  | {
      readonly type: 'answer-rejected';
      readonly reason: string;
      /** What was typed as the answer; null for an answer by a key. */
      readonly typed: string | null;
    }
  | { readonly type: 'confirmed'; readonly isYes: boolean }
  // Logs
  | {
      readonly type: 'entries-read';
      readonly task: string;
      /** Null if they could not be read. */
      readonly earlier: Earlier | null;
      readonly next: BrowseMessage;
    }
  | {
      readonly type: 'log-searched';
      readonly key: string;
      readonly matches: readonly SearchMatch[];
      readonly by: Direction;
    }
  // Undo
  | {
      readonly type: 'rewind-planned';
      readonly plan: RewindPlan;
      readonly prompt: LastPrompt | null;
    }
  | {
      readonly type: 'rewound';
      /** The number of files that were put back. */
      readonly files: number;
      /** Files that were not put back, each with the reason. */
      readonly skipped: readonly string[];
      readonly prompt: LastPrompt | null;
    }
  // The machine
  | { readonly type: 'sandbox-checked'; readonly sandbox: SandboxState }
  | {
      readonly type: 'shell-output';
      readonly key: number;
      readonly change: Pick<ShellBlock, 'output' | 'outputLines' | 'outcome'>;
    };
