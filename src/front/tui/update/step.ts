import type { QuestionAnswer, RewindPlan, RewindScope, RuleChange } from '../../../api/index.ts';
import type { NoticeLevel } from '../../../protocol/events/event.ts';
import type { Effort } from '../../../protocol/model.ts';
import type { PermissionMode, RuleList } from '../../../protocol/permission.ts';
import type { TerminalSettings, ThemeChoice } from '../../../protocol/terminal-settings.ts';
import type { PlannedFanOut } from '../../../report/fan-out-estimate.ts';
import type { AppState, ArmedAction, LastPrompt } from '../model/app-state.ts';
import { type Transcript, addEntry } from '../model/transcript.ts';
import type { BrowseMessage, Direction, UiMessage, Tagged } from './message.ts';
import type { LandingRequest } from '../model/landing-request.ts';
import type { PickerKind } from '../model/picker.ts';
import type { ServerAction } from '../model/server-texts.ts';
import type { Action } from '../model/key-bindings.ts';
import type { DialogSubject, StartDialog, TypedSecret } from '../model/dialog.ts';
import type { ViewContext } from '../view/frame.ts';
import type { EntryBody, SelectableEntry } from '../model/entry.ts';
import {
  copyTree,
  type DisplayedTree,
  type Confirmation,
  type PendingQuestion,
} from '../model/task-tree.ts';

/** The effects by type, each with its fields. */
interface EffectFields {
  /** Handles another message after the effects before this one. */
  dispatch: { message: UiMessage };
  /** Handles another message after `ms` milliseconds. */
  'dispatch-later': { message: UiMessage; ms: number };

  /** Sends a message to the task `to`, or to the conversation if `to` is null. */
  'send-message': { text: string; to: string | null };
  /** Sends a command such as `/compact`, which the library reads from the message. It gets no attachments. */
  'send-command': { text: string };
  /** Continues a conversation that was cut off. */
  'continue-conversation': object;
  /** Sends a message that waits for MCP servers without waiting on. */
  'skip-servers': object;
  /** Does something with an MCP server, and adds a note about it. */
  'change-server': { id: string; action: ServerAction };
  'start-new-conversation': object;
  'find-conversation': { name: string };
  'load-conversation': { id: string };
  /** Looks for the earlier conversations of this directory, once the first frame is on the screen. */
  'find-earlier-conversations': object;
  /** Adds the page with the conversations of this directory, or fills the picker with all conversations. */
  'list-conversations': object;
  'list-models': object;
  /** Reads the messages of the user in a conversation. */
  'list-messages': { conversation: string };
  'list-history': object;
  /** Fills the list of the settings, or adds a page with those that the user has changed. */
  'list-settings': object;
  /** Writes a setting into the user's configuration file; null removes it. `isListed`: it is changed in the list. */
  'change-setting': { key: string; text: string | null; isListed: boolean };
  /** Adds the page of `/hooks`. */
  'show-hooks': object;
  /** Adds the page of `/status`. */
  'show-status': object;
  'read-preview': { kind: PickerKind; id: string };
  /** `effort`: null for that of the model, undefined to leave it as it is. */
  'set-model': { name: string; effort: Effort | null | undefined };
  /** Sets the first of the modes that the task may have. */
  'set-mode': { task: string; modes: readonly PermissionMode[] };
  /** Lists the rules of a task; of the conversation if `task` is null. */
  'list-rules': { task: string | null };
  /** Changes rules of the conversation, and adds the note `done`. */
  'change-rules': { changes: readonly RuleChange[]; done: string };
  /** Removes the rule that was typed; `list` is null if the kind was not typed. */
  'remove-rule': { list: RuleList | null; rule: string };
  'show-context': { task: string };
  /** Adds a page with the board of the task's tree, or with one finding, by its id or the beginning of it. */
  'show-board': { task: string; finding: string | null };
  'read-branch': object;
  'read-context-window': { model: string };
  /** Counts a use of a hint in the file of the user. */
  'count-hint': { hint: string };

  /** Takes back the messages to the task that no request contains yet; to the conversation if `from` is null. */
  'withdraw-messages': { from: string | null };
  'interrupt-task': { task: string };
  'stop-task': { task: string };
  'resume-task': { task: string };
  'move-to-background': { tasks: readonly string[] };
  'open-task': { task: string };
  /** `typed` is the text of the answer; null for an answer by a key. */
  'answer-question': { answer: QuestionAnswer; typed: string | null };

  'read-entries': { transcript: Transcript; key: number; next: BrowseMessage };
  'search-log': { transcript: Transcript; pattern: RegExp; key: string; by: Direction };
  /** Reads the former content of the file that a call has changed, by its hash. */
  'read-former-content': { task: string; callId: string; hash: string };
  /** Reads the file that the edits of a question would change. */
  'read-proposal': { question: string; path: string };
  /** Reads the full text of an entry and opens it in the pager. */
  'read-full-entry': { transcript: Transcript; entry: SelectableEntry };
  /** Plans to return to before `prompt`, or to before one of the last messages if it is null; or plans a redo. */
  'plan-rewind': {
    conversation: string;
    isRedo: boolean;
    prompt: LastPrompt | null;
    /** The number of messages to take back if `prompt` is null. */
    back: number;
    only: RewindScope | null;
  };
  rewind: { plan: RewindPlan; prompt: LastPrompt | null };

  /** Shows the changes that a task has made in its workspace. */
  'show-task-diff': { task: string };
  /** Merges the changes of a task with the present files, without writing anything. */
  'plan-landing': { request: LandingRequest };
  land: { request: LandingRequest };
  /** Reads what has become of the changes of tasks. */
  'read-landings': { tasks: readonly string[] };

  /** Runs a shell command of the user, which the entry with this key shows. */
  'run-shell': { key: number; command: string; isShared: boolean };
  'stop-shell': object;
  /** Opens the output of a background shell in the pager, or shows its end in plain lines. */
  'show-shell': { shell: string; task: string; command: string; path: string };
  /** Stops a background shell of a task. */
  'stop-background-shell': { task: string; shell: string };
  'paste-image': object;

  'use-theme': { theme: ThemeChoice };
  'copy-text': { text: string };
  /** Writes a conversation to a new file, whose name decides the format. */
  'export-conversation': { task: string; file: string; withTasks: boolean };

  'set-editor-text': { text: string };
  /** Selects the completion that is a page further down (1) or up (-1). */
  'page-completions': { by: Direction };
  'remember-input': { text: string };
  /** Adds a note with the probable cost of a fan-out, if the logs have enough tasks like it. */
  'estimate-fan-out': PlannedFanOut;
  'call-attention': { text: string };
  /** Dispatches `armed-expired` after `ms` milliseconds, and cancels the expiry before. */
  'expire-armed': { ms: number };
  /** Opens a dialog of the user's setup. `argument` is the name of a provider for `login`, the text for `note`, `wanted` for a review that the user asks for, or empty. */
  'open-dialog': { subject: StartDialog | 'login' | 'note'; argument: string };
  'answer-dialog': { subject: DialogSubject; answer: TypedSecret };
  'cancel-dialog': object;
  /** Adds a line to the context file of the project or of the user. */
  'write-note': { note: string; scope: 'project' | 'user' };
  /** Opens Muster again with the same conversation. `done` says why, in words that follow `Muster`. */
  restart: { done: string };
  /** Lists the context files: in the picker, or as a page in plain lines. */
  'list-memory': object;
  /** Opens a context file in the user's own editor, and says when the change applies. */
  'edit-memory': { path: string };
  /** Opens a file in the user's own editor, and adds the note `done` afterwards. */
  'open-file': { path: string; done: string };
  /** Opens a text in the user's own editor; the text of the editor here if `text` is null. */
  'edit-text': { text: string | null };
  redraw: object;
  suspend: object;
  leave: object;
}

/** An action outside of the state, such as sending a message. `update` only describes it; the effect runner carries it out. */
export type UiEffect = Tagged<EffectFields>;

/** The next state, and the effects to carry out. */
export interface Update {
  readonly state: AppState;
  readonly effects: readonly UiEffect[];
}

/** Makes an update from a state and its effects. */
export function next(state: AppState, ...effects: readonly UiEffect[]): Update {
  return { state, effects };
}

/** Continues with the state of an update. The effects of both steps are kept in their order. */
export function andThen({ state, effects }: Update, step: (state: AppState) => Update): Update {
  const after = step(state);
  return { state: after.state, effects: [...effects, ...after.effects] };
}

/** Shows a message in the status line until the next key. */
export function hint(state: AppState, text: string): Update {
  return next({ ...state, hint: text });
}

/** The time for the second press of a key, in milliseconds. */
const ARMED_MS: Readonly<Record<ArmedAction, number>> = {
  leave: 2_000,
  'stop-tree': 2_000,
  'stop-focused': 2_000,
  undo: 1_000,
};

/** Prepares an action that happens if the same key is pressed again soon. The hint goes when the time is over. */
export function arm(
  state: AppState,
  armed: ArmedAction,
  { hint: text, ms = ARMED_MS[armed] }: { readonly hint: string; readonly ms?: number },
): Update {
  return next({ ...state, armed, hint: text }, { type: 'expire-armed', ms });
}

/** Cancels the prepared action when its time is over, with its hint. */
export function expireArmed(state: AppState): Update {
  return next(state.armed === null ? state : { ...state, armed: null, hint: null });
}

/** Counts a use of hints, which are no longer shown after a few uses. */
export function countHints(state: AppState, hints: readonly string[]): Update {
  if (hints.length === 0) return next(state);
  const hintUses = new Map(state.hintUses);
  for (const name of hints) hintUses.set(name, (hintUses.get(name) ?? 0) + 1);
  const effects = hints.map((name): UiEffect => ({ type: 'count-hint', hint: name }));
  return next({ ...state, hintUses }, ...effects);
}

/** Changes settings of the terminal UI for now. Entries that were unfolded or folded by hand follow the settings again. */
export function changeTerminal(state: AppState, change: Partial<TerminalSettings>): AppState {
  return { ...state, terminal: { ...state.terminal, ...change }, toggled: new Set() };
}

/** Replaces the text of the editor. */
export function setEditorText(state: AppState, text: string): Update {
  return next({ ...state, typed: text }, { type: 'set-editor-text', text });
}

/** Everything that an update reads besides the state and the message. */
export type UpdateContext = ViewContext;

/** Handles a key. `armed` is the action that the previous key has prepared and that a second press carries out. */
export type ActionHandler = (
  state: AppState,
  context: UpdateContext,
  armed: AppState['armed'],
) => Update;

/** Handlers for some of the actions. */
export type ActionHandlers = Partial<Record<Action, ActionHandler>>;

/** Changes a copy of the task tree and returns the state with this copy. `task` is set if the change concerns only one task. */
export function editTree(
  state: AppState,
  change: (tree: DisplayedTree) => void,
  task: string | null = null,
): AppState {
  const tree = copyTree(state.tree, task);
  change(tree);
  return { ...state, tree };
}

/** Adds an entry to the conversation. Returns its key with the new state. */
export function appendEntry(
  state: AppState,
  body: EntryBody,
): { readonly state: AppState; readonly key: number } {
  let key = 0;
  const changed = editTree(state, (tree) => {
    key = addEntry(tree.main, body);
  });
  return { state: changed, key };
}

/** Adds a note to the conversation. */
export function addNote(state: AppState, level: NoticeLevel, text: string): AppState {
  return appendEntry(state, { kind: 'note', level, text }).state;
}

/** Returns an effect that adds a note after the preceding effects have been carried out. */
export function dispatchNote(level: 'info' | 'warning', text: string): UiEffect {
  return { type: 'dispatch', message: { type: 'note', level, text } };
}

/** Returns the question that has the focus or is being answered; undefined if somebody else has settled it. */
export function focusedQuestion({ tree, question }: AppState): PendingQuestion | undefined {
  return question === null ? undefined : tree.questions.get(question);
}

/**
 * Asks the user to confirm an action of the UI, instead of an earlier one. The question gets the focus, unless the user is
 * typing something.
 */
export function askConfirmation(state: AppState, question: Confirmation): AppState {
  const asked = editTree(state, ({ questions }) => {
    for (const { id, kind } of questions.values()) if (kind === 'confirm') questions.delete(id);
    questions.set(question.id, question);
  });
  const isFree = state.typed === '' && state.focus === 'editor' && state.writing.kind === 'message';
  if (!isFree) return asked;
  const shown = { questionScroll: 0, chosenAnswer: null };
  return { ...asked, ...shown, focus: 'question', question: question.id };
}

/** Moves the focus from the question to the editor, and restores the unfinished message. The question stays open. */
export function leaveQuestion(state: AppState): Update {
  // A list that is open keeps the keys.
  if (state.picker !== null) return next({ ...state, question: null });
  const { writing } = state;
  const left: AppState = {
    ...state,
    focus: 'editor',
    question: null,
    answersAlike: null,
    chosenAnswer: null,
    chosenEntry: null,
  };
  if (writing.kind === 'message') return next(left);
  return setEditorText({ ...left, writing: { kind: 'message' }, search: null }, writing.draft);
}

/** Takes the focus from a question that somebody else has settled. */
export function leaveSettledQuestion(state: AppState): Update {
  if (state.question === null || focusedQuestion(state) !== undefined) return next(state);
  return andThen(leaveQuestion(state), (left) => hint(left, 'this question is settled'));
}
