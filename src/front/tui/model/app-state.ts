import type { RewindPlan, SandboxState } from '../../../api/index.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { SearchMatch } from './entry-search.ts';
import { emptyTaskTree, type DisplayedTree } from './task-tree.ts';
import type { Transcript } from './transcript.ts';

/** The part of the screen that gets the keys. */
export type Focus = 'editor' | 'question' | 'tasks' | 'entries';

/**
 * The purpose of the editor's text. `draft` is the message that was being typed before; it returns to the
 * editor afterwards.
 */
export type Writing =
  | { readonly kind: 'message' }
  | { readonly kind: 'reason' | 'answer' | 'plan' | 'search'; readonly draft: string };

/** The line at the top of a view that does not follow the end: the key of an entry, and a line of that entry. */
export interface Anchor {
  readonly key: number;
  readonly line: number;
}

/** A search in the conversation that is shown. */
export interface Search {
  readonly typed: string;
  /** The pattern to search for, or null while nothing is typed. */
  readonly pattern: RegExp | null;
  /** Entries that match, the oldest first. */
  readonly matches: readonly SearchMatch[];
  /** Whether the full log was searched, and not only the entries in memory. */
  readonly isComplete: boolean;
  /** The match that the view went to; null before the first step. */
  readonly current: Anchor | null;
}

/** The user's last message in a conversation, which an undo takes back. */
export interface LastPrompt {
  readonly text: string;
  /** The number of the last event before it; null if the conversation starts with it. */
  readonly before: number | null;
}

/** An undo or redo that waits for the user's confirmation. `prompt` is null for a redo. */
export interface PendingRewind {
  readonly plan: RewindPlan;
  readonly prompt: LastPrompt | null;
}

/** The status of the conversation beyond its events. */
export interface ConversationStatus {
  /** The id of its main task; null before the first message. */
  readonly id: string | null;
  /** Whether this process runs it. */
  readonly isAtWork: boolean;
  /** Whether it belongs to another process and is only watched. */
  readonly isWatched: boolean;
  /** Whether a message still waits for its attachments. */
  readonly isSending: boolean;
}

/** The size of the terminal, and the number of lines that the editor takes. */
export interface TerminalSize {
  readonly width: number;
  readonly height: number;
  readonly editorLines: number;
}

/** The complete state of the terminal UI. `update` makes the next state; nothing changes one in place. */
export interface AppState {
  /** The fold of all task events. */
  readonly tree: DisplayedTree;
  readonly conversation: ConversationStatus;
  /** A full screen, or lines for a screen reader. */
  readonly surface: 'screen' | 'lines';
  readonly size: TerminalSize;
  /** The state of the sandbox, or null until it has been tried out. */
  readonly sandbox: SandboxState | null;
  /** Messages of the start, one line each. */
  readonly notices: readonly string[];
  /** Whether a shell command of the user's is running. */
  readonly isShellRunning: boolean;
  readonly focus: Focus;
  readonly writing: Writing;
  /** The editor's text. */
  readonly typed: string;
  /** The question that has the focus or is being answered. */
  readonly question: string | null;
  /** The first line of that question in view. */
  readonly questionScroll: number;
  /** The task whose transcript is shown; null for the conversation. */
  readonly openTask: string | null;
  /** The selected task in the tree. */
  readonly chosenTask: string | null;
  /** The line at which the view is fixed, or null if it follows the end. */
  readonly anchor: Anchor | null;
  /** Whether calls and thoughts show more than one line. */
  readonly isExpanded: boolean;
  /** Keys of the entries for which the opposite holds. */
  readonly toggled: ReadonlySet<number>;
  /** The key of the selected entry, while entries have the focus. */
  readonly chosenEntry: number | null;
  readonly search: Search | null;
  /** The result of the last search through a full log, so that the next step does not read the log again. */
  readonly searchedLog: { readonly key: string; readonly matches: readonly SearchMatch[] } | null;
  /** The action that happens if the same key is pressed once more. */
  readonly armed: 'leave' | 'stop-tree' | null;
  /** A message in the status line, which the next key removes. */
  readonly hint: string | null;
  /** The permission mode that the user chose for the next message. */
  readonly chosenMode: PermissionMode | null;
  /** The height of the task tree, which does not shrink while anything is at work. */
  readonly paneHeight: number;
  readonly pendingRewind: PendingRewind | null;
}

/** The state of a UI that has just started. */
export function initialAppState(
  known: Partial<Pick<AppState, 'conversation' | 'notices' | 'surface' | 'tree'>> = {},
): AppState {
  return {
    tree: emptyTaskTree(),
    conversation: { id: null, isAtWork: false, isWatched: false, isSending: false },
    surface: 'screen',
    size: { width: 80, height: 24, editorLines: 3 },
    sandbox: null,
    notices: [],
    isShellRunning: false,
    focus: 'editor',
    writing: { kind: 'message' },
    typed: '',
    question: null,
    questionScroll: 0,
    openTask: null,
    chosenTask: null,
    anchor: null,
    isExpanded: false,
    toggled: new Set(),
    chosenEntry: null,
    search: null,
    searchedLog: null,
    armed: null,
    hint: null,
    chosenMode: null,
    paneHeight: 0,
    pendingRewind: null,
    ...known,
  };
}

/** The transcript in view: that of the open task, or the conversation. */
export function transcriptInView({ tree, openTask }: AppState): Transcript {
  return openTask === null ? tree.main : (tree.opened ?? tree.main);
}
