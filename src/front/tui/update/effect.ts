import type { QuestionAnswer, RewindPlan } from '../../../api/index.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { AppState, LastPrompt } from '../model/app-state.ts';
import type { Transcript } from '../model/transcript.ts';
import type { BrowseMessage, Direction, UiMessage, Tagged } from './message.ts';

/** The effects by type, each with its fields. */
interface EffectFields {
  /** Handles another message after the effects before this one. */
  dispatch: { message: UiMessage };

  /** Sends a message to an open task, or with null to the conversation. */
  'send-message': { text: string; to: string | null };
  /** Sends a command that the library reads from the message, without attachments. */
  'send-command': { text: string };
  /** Continues a conversation that was cut off. */
  'continue-conversation': object;
  'start-new-conversation': object;
  'find-conversation': { name: string };
  'load-conversation': { id: string };
  'list-conversations': object;
  'set-model': { name: string };
  /** Sets the first of these modes that the task may have. */
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

  /** Runs a shell command of the user's, shown by the entry of this key. */
  'run-shell': { key: number; command: string; isShared: boolean };
  'stop-shell': object;
  'paste-image': object;

  'set-editor-text': { text: string };
  'remember-input': { text: string };
  'call-attention': { text: string };
  redraw: object;
  suspend: object;
  leave: object;
}

/** Something that the UI does to the world. `update` only describes it; the effect runner does it. */
export type UiEffect = Tagged<EffectFields>;

/** The next state, and what is to be done. */
export interface Update {
  readonly state: AppState;
  readonly effects: readonly UiEffect[];
}

export function next(state: AppState, ...effects: readonly UiEffect[]): Update {
  return { state, effects };
}

/** Continues with the state of an update, and keeps its effects. */
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
