import type { RewindPlan, SandboxState } from '../../../api/index.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { ThinkingDisplay } from '../../../protocol/thinking-display.ts';
import type { Dialog, StartDialog } from './dialog.ts';
import type { SearchMatch } from './entry-search.ts';
import { emptyTaskTree, type DisplayedTree } from './task-tree.ts';
import type { Transcript } from './transcript.ts';

/** The part of the screen that gets the keys. */
export type Focus = 'editor' | 'question' | 'tasks' | 'entries';

/**
 * The purpose of the editor's text. `draft` is the unfinished message that was in the editor before; it returns to the
 * editor afterwards.
 */
export type Writing =
  | { readonly kind: 'message' }
  | { readonly kind: 'reason' | 'answer' | 'plan' | 'search'; readonly draft: string };

/** The line at the top of a view that has been scrolled: the key of an entry, and the index of a line of that entry. */
export interface Anchor {
  readonly key: number;
  readonly line: number;
}

/** A search in the transcript in view. */
export interface Search {
  readonly typed: string;
  /** The pattern of the typed text; null while the text is blank. */
  readonly pattern: RegExp | null;
  /** The entries that match, the oldest first. */
  readonly matches: readonly SearchMatch[];
  /** Whether the full log was searched, and not only the entries in memory. */
  readonly isComplete: boolean;
  /** The match that is in view; null before the first step. */
  readonly current: Anchor | null;
}

/** The last message of the user in a conversation, which an undo takes back. */
export interface LastPrompt {
  readonly text: string;
  /** The number of the last event before the message; null if the conversation starts with the message. */
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
  /** Whether this process runs the conversation. */
  readonly isAtWork: boolean;
  /** Whether the conversation belongs to another process and is only watched. */
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

/** The complete state of the terminal UI. `update` returns the next state; a state is never changed in place. */
export interface AppState {
  /** The fold of all task events. */
  readonly tree: DisplayedTree;
  readonly conversation: ConversationStatus;
  /** A full screen, or lines for a screen reader. */
  readonly surface: 'screen' | 'lines';
  readonly size: TerminalSize;
  /** The result of the sandbox test; null until the test has ended. */
  readonly sandbox: SandboxState | null;
  /** Messages of the start, one line each. */
  readonly notices: readonly string[];
  /** Whether a shell command of the user's is running. */
  readonly isShellRunning: boolean;
  readonly focus: Focus;
  readonly writing: Writing;
  /** The text in the editor. */
  readonly typed: string;
  /** The id of the question that has the focus or is being answered. */
  readonly question: string | null;
  /** The index of the first line in view of that question. */
  readonly questionScroll: number;
  /** The task whose transcript is shown; null for the conversation. */
  readonly openTask: string | null;
  /** The selected task in the tree. */
  readonly chosenTask: string | null;
  /** The position of the view; null if the view follows the end. */
  readonly anchor: Anchor | null;
  /** Whether calls and thoughts show more than one line. */
  readonly isExpanded: boolean;
  /** The amount of thinking that is shown. */
  readonly thinking: ThinkingDisplay;
  /** The keys of the entries for which `isExpanded` is reversed. */
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
  /** The dialog that has the screen and the keys. */
  readonly dialog: Dialog | null;
  /** A message of the command line that is sent when the dialogs of the start are closed. */
  readonly firstMessage: string | null;
  /** The dialogs that open when this one is closed. */
  readonly laterDialogs: readonly StartDialog[];
}

/** The state of a UI that has just started. */
export function initialAppState(
  known: Partial<Pick<AppState, 'conversation' | 'notices' | 'surface' | 'thinking' | 'tree'>> = {},
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
    thinking: 'short',
    toggled: new Set(),
    chosenEntry: null,
    search: null,
    searchedLog: null,
    armed: null,
    hint: null,
    chosenMode: null,
    paneHeight: 0,
    pendingRewind: null,
    dialog: null,
    firstMessage: null,
    laterDialogs: [],
    ...known,
  };
}

/** The transcript in view: that of the open task, or the conversation. */
export function transcriptInView({ tree, openTask }: AppState): Transcript {
  return openTask === null ? tree.main : (tree.opened ?? tree.main);
}
