import type { QuestionAnswer, RewindPlan } from '../../../api/index.ts';
import type { NoticeLevel } from '../../../protocol/events/event.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { AppState, LastPrompt } from '../model/app-state.ts';
import { type Transcript, addEntry } from '../model/transcript.ts';
import type { BrowseMessage, Direction, UiMessage, Tagged } from './message.ts';
import type { Action } from '../model/key-bindings.ts';
import type { DialogSubject, StartDialog, TypedSecret } from '../model/dialog.ts';
import type { ViewContext } from '../view/frame.ts';
import type { EntryBody } from '../model/entry.ts';
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

  /** Sends a message to the task `to`, or to the conversation if `to` is null. */
  'send-message': { text: string; to: string | null };
  /** Sends a command such as `/compact`, which the library reads from the message. It gets no attachments. */
  'send-command': { text: string };
  /** Continues a conversation that was cut off. */
  'continue-conversation': object;
  'start-new-conversation': object;
  'find-conversation': { name: string };
  'load-conversation': { id: string };
  'list-conversations': object;
  'set-model': { name: string };
  /** Sets the first of the modes that the task may have. */
  'set-mode': { task: string; modes: readonly PermissionMode[] };
  'show-context': { task: string };

  'interrupt-task': { task: string };
  'stop-task': { task: string };
  'resume-task': { task: string };
  'move-to-background': { tasks: readonly string[] };
  'open-task': { task: string };
  /** `typed` is the text of the answer; null for an answer by a key. */
  'answer-question': { answer: QuestionAnswer; typed: string | null };

  'read-entries': { transcript: Transcript; key: number; next: BrowseMessage };
  'search-log': { transcript: Transcript; pattern: RegExp; key: string; by: Direction };
  'plan-rewind': { conversation: string; isRedo: boolean };
  rewind: { plan: RewindPlan; prompt: LastPrompt | null };

  /** Runs a shell command of the user, which the entry with this key shows. */
  'run-shell': { key: number; command: string; isShared: boolean };
  'stop-shell': object;
  'paste-image': object;

  'set-editor-text': { text: string };
  'remember-input': { text: string };
  'call-attention': { text: string };
  /** Opens a dialog of the user's setup. `argument` is the name of a provider for `login`, the text for `note`, or empty. */
  'open-dialog': { subject: StartDialog | 'login' | 'note'; argument: string };
  'answer-dialog': { subject: DialogSubject; answer: TypedSecret };
  'cancel-dialog': object;
  /** Adds a line to the context file of the project or of the user. */
  'write-note': { note: string; scope: 'project' | 'user' };
  /** Opens Muster again with the same conversation. `done` says why, in words that follow `Muster`. */
  restart: { done: string };
  /** Opens the text in the user's own editor. */
  'edit-text': { text: string };
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

/** Asks the user to confirm an action of the UI. The question gets the focus, unless the user is typing something. */
export function askConfirmation(state: AppState, question: Confirmation): AppState {
  const asked = editTree(state, ({ questions }) => {
    questions.delete(question.id);
    questions.set(question.id, question);
  });
  const isFree = state.typed === '' && state.focus === 'editor' && state.writing.kind === 'message';
  if (!isFree) return asked;
  return { ...asked, focus: 'question', question: question.id, questionScroll: 0 };
}

/** Moves the focus from the question to the editor, and restores the unfinished message. The question stays open. */
export function leaveQuestion(state: AppState): Update {
  const { writing } = state;
  const left: AppState = { ...state, focus: 'editor', question: null };
  if (writing.kind === 'message') return next(left);
  return setEditorText({ ...left, writing: { kind: 'message' }, search: null }, writing.draft);
}

/** Takes the focus from a question that somebody else has settled. */
export function leaveSettledQuestion(state: AppState): Update {
  if (state.question === null || focusedQuestion(state) !== undefined) return next(state);
  return andThen(leaveQuestion(state), (left) => hint(left, 'this question is settled'));
}
