import type {
  LandingPreview,
  QuestionAnswer,
  RewindPlan,
  RewindScope,
  RuleChange,
  SandboxState,
  TaskRules,
  TaskSignal,
  UserSetting,
} from '../../../api/index.ts';
import type { LandingState } from '../../../protocol/workspace.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type {
  ConversationStatus,
  EarlierConversations,
  LastPrompt,
  TerminalSize,
  Writing,
} from '../model/app-state.ts';
import type { Dialog, DialogInput, StartDialog } from '../model/dialog.ts';
import type { ShellChange } from '../model/entry.ts';
import type { LandingRequest } from '../model/landing-request.ts';
import type { PagerDocument } from '../model/pager.ts';
import type { SearchMatch } from '../model/entry-search.ts';
import type { Earlier, Transcript } from '../model/transcript.ts';
import type { PickerItem, PickerKind, PreviewPart } from '../model/picker.ts';
import type { KeyMeaning } from './key-action.ts';
import type { NoticeLevel, TaskEvent } from '../../../protocol/events/event.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';

/** A step to the next match or entry (1), or to the previous one (-1). */
export type Direction = 1 | -1;

/** The result of looking up a conversation that `/resume` names. */
export interface ConversationFound {
  readonly id: string;
  readonly parent: string | null;
  readonly root: string;
  /** The id of the process that runs the conversation; null if no process runs it. */
  readonly ownerPid: number | null;
}

/** The messages by type, each with its fields. */
interface MessageFields {
  /** A key was pressed; `keyAction` says what it means. */
  /** `key` is the name of the key, and `at` the time; both may be absent for a key that is no answer. */
  'key-pressed': { meaning: KeyMeaning; key?: string; at?: number };
  /** No key has followed for a while: the keys that were pressed at this time are an answer. */
  'answer-settled': { at: number };
  /** No other mode has been chosen for a while. `at` is the time at which the mode was chosen. */
  'mode-settled': { at: number };
  /** The editor's text has changed. */
  typed: { text: string };
  submitted: { text: string };
  /** A frame is about to be drawn. */
  frame: { size: TerminalSize };
  /** Runs a slash command. */
  'run-command': { name: string; argument: string };

  /** Scrolling and choosing may need older entries, which are read first. `isLoaded` is set once they have been read. */
  scroll: { lines: number; isLoaded?: true };
  'choose-entry': { by: Direction; isLoaded?: true };
  'go-to-match': { key: number; by: Direction };
  /** `earlier` is null if the entries could not be read. */
  'entries-read': { task: string; earlier: Earlier | null; next: BrowseMessage };
  'log-searched': { key: string; matches: readonly SearchMatch[]; by: Direction };

  'task-event': { event: TaskEvent; task: TaskState };
  'task-signal': { signal: TaskSignal };
  /** A task was read from its log. `isAsking` says whether its open questions can be answered. */
  'task-found': { task: TaskState; isAsking: boolean };
  'tasks-passed-over': { count: number };
  'task-opened': { task: string; transcript: Transcript };

  hint: { text: string };
  note: { level: NoticeLevel; text: string };
  /** Another process did not carry out a request. */
  'request-failed': { text: string };
  page: { title: string; lines: readonly string[] };
  /** Opens a text on the full screen. */
  'pager-opened': { document: PagerDocument };

  /** The list of a picker was read, or a part of it. */
  'picker-filled': {
    kind: PickerKind;
    items: readonly PickerItem[];
    isLoading: boolean;
    note: string;
  };
  /** A setting was written. `isListed`: it was changed in the list of settings. */
  'setting-changed': { setting: UserSetting; done: string; isListed: boolean };
  'setting-refused': { problem: string };
  'preview-read': { kind: PickerKind; id: string; parts: readonly PreviewPart[] };

  'conversation-changed': { status: Partial<ConversationStatus> };
  'conversation-idle': object;
  /** The state of an MCP server may have changed. */
  'servers-changed': object;
  /** A message waits for these MCP servers before it is sent; none: the wait has ended in this way. */
  'servers-awaited': { names: readonly string[]; end: 'answered' | 'skipped' | 'late' | null };
  'conversation-found': { found: ConversationFound };
  /** The conversation that the user named does not exist. */
  'conversation-missing': { problem: string };
  'conversation-loaded': { id: string; main: Transcript };
  /** The time for the second press of a key is over. */
  'armed-expired': object;
  /** Messages that were not read yet were taken back from their task, the oldest first. */
  'messages-withdrawn': { texts: readonly string[] };
  /** The rules were read. `problem` says why a change was not made; empty if there was none. */
  'rules-read': { rules: TaskRules; problem: string };
  /** The rules for a conversation that has not begun have changed. */
  'new-rules': { rules: readonly RuleChange[] };
  /** A conversation has begun with these rules. */
  'rules-taken': { rules: readonly RuleChange[] };
  /** The chosen mode is in force now. */
  'mode-taken': { mode: PermissionMode };
  'model-set': { name: string };
  'send-failed': { text: string; reason: string };

  /** Opens a dialog, or closes it with null. */
  dialog: { dialog: Dialog | null };
  'dialog-typed': { input: DialogInput };
  /** A change of the setup applies once Muster is opened again. */
  'restart-wanted': { done: string };
  /** Muster was opened again. The unfinished message, the mode and the rules are those from before. */
  restarted: {
    typed: string;
    mode: PermissionMode | null;
    rules: readonly RuleChange[];
    done: string;
  };
  /** The UI is open. The message of the command line is sent when the dialogs are closed; null for none. */
  started: {
    firstMessage: string | null;
    dialogs: readonly StartDialog[];
    /** Whether the user has not asked for an earlier conversation. */
    isNew: boolean;
  };
  /** The conversations of this directory were listed, and there are some. */
  'earlier-found': { earlier: EarlierConversations };
  /** The user has left the external editor. `writing` is the purpose of the text when it was opened. */
  'text-edited': { text: string; writing: Writing['kind'] };

  /** `similar`: the ids of the similar questions that get this answer, too. */
  answer: { answer: QuestionAnswer; similar?: readonly string[] };
  'answer-accepted': { question: string };
  /** `typed` is the text of the answer; null for an answer by a key. */
  'answer-rejected': { reason: string; typed: string | null };
  /** The user has answered a question of the UI itself. */
  confirmed: { isYes: boolean };
  'rewind-planned': { plan: RewindPlan; prompt: LastPrompt | null };
  /** `files` is the number of files that were put back; `skipped` names the others, each with the reason. */
  rewound: {
    files: number;
    skipped: readonly string[];
    prompt: LastPrompt | null;
    only: RewindScope | null;
  };

  /** The changes of a task were merged with the present files, without writing anything. */
  'landing-planned': { request: LandingRequest; preview: LandingPreview };
  /** The states of the changes of tasks were read. */
  'landings-read': { states: ReadonlyMap<string, LandingState> };

  /** The file that the edits of a question change was read; null if that was not possible. */
  'proposal-read': { question: string; content: string | null };
  /** The former content of the file that a call has changed. */
  'former-content-read': { task: string; callId: string; text: string };
  'sandbox-checked': { sandbox: SandboxState };
  /** The UI has started, and facts about the directory can be read. */
  'read-status': object;
  'branch-read': { branch: string | null };
  /** `tokens` is null if the context window of the model is unknown. */
  'context-window-read': { model: string; tokens: number | null };
  'shell-output': { key: number; change: ShellChange };
}

/** The union of the rows of a table, each with its key as `type`. */
export type Tagged<Fields> = {
  [Type in keyof Fields]: Readonly<{ type: Type } & Fields[Type]>;
}[keyof Fields];

/** Everything that can happen to the terminal UI. */
export type UiMessage = Tagged<MessageFields>;

export type BrowseMessage = Extract<UiMessage, { type: 'scroll' | 'choose-entry' | 'go-to-match' }>;
