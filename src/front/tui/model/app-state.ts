import type { RewindPlan, RuleChange, SandboxState, TaskRules } from '../../../api/index.ts';
import {
  DEFAULT_TERMINAL_SETTINGS,
  type TerminalSettings,
} from '../../../protocol/terminal-settings.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { Pager } from './pager.ts';
import type { Dialog, StartDialog } from './dialog.ts';
import type { LandingRequest } from './landing-request.ts';
import type { SearchMatch } from './entry-search.ts';
import type { Picker } from './picker.ts';
import type { Action, OwnAction } from './key-bindings.ts';
import type { ProposedChange } from './call-details.ts';
import { emptyTaskTree, type DisplayedTree } from './task-tree.ts';
import type { Transcript } from './transcript.ts';

/** The part of the screen that gets the keys. */
export type Focus = 'editor' | 'question' | 'tasks' | 'entries' | 'picker' | 'pager';

/**
 * The purpose of the editor's text. `draft` is the unfinished message that was in the editor before; it returns to the
 * editor afterwards.
 */
export type Writing =
  | { readonly kind: 'message' }
  | {
      readonly kind: 'reason' | 'answer' | 'plan' | 'search' | 'picker' | 'find';
      readonly draft: string;
    };

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

/** The question on the screen. */
export interface ShownQuestion {
  readonly id: string;
  /** Whether all of it is in view, so that answer keys act without the focus. */
  readonly isDirect: boolean;
  /** Whether the similar questions are shown with it, because the next answer answers them, too. */
  readonly isAlike: boolean;
  /** The time since when it is there like this. */
  readonly since: number;
  /** The time at which it has taken the place of another question; null if it has not. */
  readonly replacedAt: number | null;
}

/** Answer keys that were pressed without the focus. They are in the editor until it is certain that they are an answer. */
export interface HeldAnswer {
  readonly question: string;
  readonly actions: readonly Action[];
  /** The ids of the questions that were similar when the first key was pressed. */
  readonly similar: ReadonlySet<string>;
  /** The text that the editor holds after these keys. */
  readonly text: string;
  /** The time of the last key. */
  readonly at: number;
}

/** A question that the user has pressed Enter for without the focus, and the time. */
export interface EnterAnswers {
  readonly question: string;
  readonly at: number;
}

/** The change that the edits of a question would make in their file. */
export interface Proposal {
  readonly question: string;
  /** The change; null if the file could not be read, or if the edits do not fit it. */
  readonly change: ProposedChange | null;
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

/** The conversations that were begun in the working directory before this one. */
export interface EarlierConversations {
  readonly count: number;
  /** The title of the one that was active last; empty if it has none. */
  readonly title: string;
  /** The time since then: `2 hours ago`. */
  readonly age: string;
}

/** An action that needs a second press of the same key. */
export type ArmedAction = 'leave' | 'stop-tree' | 'stop-focused' | 'undo';

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
  /** The names of the MCP servers for which the first message waits. */
  readonly awaitedServers: readonly string[];
  /** Messages of the start, one line each. */
  readonly notices: readonly string[];
  /** The earlier conversations that the start screen tells about; null if there are none, or if the user knows it. */
  readonly earlier: EarlierConversations | null;
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
  /** The ids of the similar questions that the next answer answers, too, as they were shown; null: only that question. */
  readonly answersAlike: ReadonlySet<string> | null;
  /** The question on the screen; null if there is none. */
  readonly shownQuestion: ShownQuestion | null;
  /** The answer of that question that Enter gives while it has the focus; null for the first one. */
  readonly chosenAnswer: OwnAction | null;
  /** The time at which that question got the focus. */
  readonly questionFocusedAt: number;
  /** The question that Enter answers if it is pressed again; null if there is none. */
  readonly enterAnswers: EnterAnswers | null;
  /** The change that the edits of a question would make in their file, once the file was read. */
  readonly proposal: Proposal | null;
  /** The time when the text in the editor changed last. */
  readonly typedAt: number;
  /** The id of the question that was on the screen when the user began to type the text in the editor; null for none. */
  readonly typedUnder: string | null;
  /** The keys that answer the question on the screen unless the user goes on typing; null if there are none. */
  readonly heldAnswer: HeldAnswer | null;
  /** The task whose transcript is shown; null for the conversation. */
  readonly openTask: string | null;
  /** The selected task in the tree. */
  readonly chosenTask: string | null;
  /** The position of the view; null if the view follows the end. */
  readonly anchor: Anchor | null;
  /** The settings of the terminal UI that apply now. */
  readonly terminal: TerminalSettings;
  /** The keys of the unfolded entries. */
  readonly toggled: ReadonlySet<number>;
  /** The key of the selected entry, while entries have the focus. */
  readonly chosenEntry: number | null;
  readonly search: Search | null;
  /** The list that fills the screen; null if none is open. */
  readonly picker: Picker | null;
  /** The result of the last search through a full log, so that the next step does not read the log again. */
  readonly searchedLog: { readonly key: string; readonly matches: readonly SearchMatch[] } | null;
  /** The action that happens if the same key is pressed once more before it expires. */
  readonly armed: ArmedAction | null;
  /** A message in the status line, which the next key removes. */
  readonly hint: string | null;
  /** The permission mode that the user chose for the next message. */
  readonly chosenMode: PermissionMode | null;
  /** True if the user chose the model of the next message in this UI. */
  readonly hasChosenModel: boolean;
  /** The rules that `/permissions` has listed; null before that. */
  readonly rules: TaskRules | null;
  /** The rules that the user has set for a conversation that has not begun. */
  readonly newRules: readonly RuleChange[];
  /** The mode that the conversation at work gets unless the user goes on to another one; null if there is none. */
  readonly pendingMode: { readonly mode: PermissionMode; readonly at: number } | null;
  /** The branch that is checked out in the working directory; null outside of a repository. */
  readonly branch: string | null;
  /** The model of the main task for which the context window was requested, and the window; null for an unknown one. */
  readonly contextWindow: { readonly model: string; readonly tokens: number | null } | null;
  /** How often the user has used each hint, by its name. */
  readonly hintUses: ReadonlyMap<string, number>;
  /** The height of the task tree, which does not shrink while anything is at work. */
  readonly paneHeight: number;
  readonly pendingRewind: PendingRewind | null;
  /** The landing for which a confirmation is asked; null if there is none. */
  readonly pendingLanding: LandingRequest | null;
  /** The text on the full screen; null if none is open. */
  readonly pager: Pager | null;
  /** The part of the screen that gets the keys when the pager is closed. */
  readonly focusBehindPager: Focus;
  /** The dialog that has the screen and the keys. */
  readonly dialog: Dialog | null;
  /** A message of the command line that is sent when the dialogs of the start are closed. */
  readonly firstMessage: string | null;
  /** The dialogs that open when this one is closed. */
  readonly laterDialogs: readonly StartDialog[];
}

/** The state of a UI that has just started. */
export function initialAppState(
  known: Partial<
    Pick<AppState, 'conversation' | 'hintUses' | 'notices' | 'surface' | 'terminal' | 'tree'>
  > = {},
): AppState {
  return {
    tree: emptyTaskTree(),
    conversation: { id: null, isAtWork: false, isWatched: false, isSending: false },
    surface: 'screen',
    size: { width: 80, height: 24, editorLines: 3 },
    sandbox: null,
    awaitedServers: [],
    notices: [],
    earlier: null,
    isShellRunning: false,
    focus: 'editor',
    writing: { kind: 'message' },
    typed: '',
    question: null,
    questionScroll: 0,
    answersAlike: null,
    shownQuestion: null,
    chosenAnswer: null,
    questionFocusedAt: -Infinity,
    enterAnswers: null,
    proposal: null,
    typedAt: -Infinity,
    typedUnder: null,
    heldAnswer: null,
    openTask: null,
    chosenTask: null,
    anchor: null,
    terminal: DEFAULT_TERMINAL_SETTINGS,
    toggled: new Set(),
    chosenEntry: null,
    search: null,
    picker: null,
    searchedLog: null,
    armed: null,
    hint: null,
    chosenMode: null,
    hasChosenModel: false,
    rules: null,
    newRules: [],
    pendingMode: null,
    branch: null,
    contextWindow: null,
    hintUses: new Map(),
    paneHeight: 0,
    pendingRewind: null,
    pendingLanding: null,
    pager: null,
    focusBehindPager: 'editor',
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
