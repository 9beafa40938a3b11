import type { QuestionAnswer, RewindPlan } from '../../../api/index.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { AppState, LastPrompt } from '../model/app-state.ts';
import type { Transcript } from '../model/transcript.ts';
import type { BrowseMessage, Direction, Message } from './message.ts';

/** Something that the UI does to the world. `update` only describes it; the effect runner does it. */
export type Effect =
  /** Handles another message after the effects before this one. */
  | { readonly type: 'dispatch'; readonly message: Message }
  // Messages and conversations
  /** Sends a message to an open task, or with null to the conversation. */
  | { readonly type: 'send-message'; readonly text: string; readonly to: string | null }
  /** Sends a command that the library reads from the message, without attachments. */
  | { readonly type: 'send-command'; readonly text: string }
  /** Continues a conversation that was cut off. */
  | { readonly type: 'continue-conversation' }
  | { readonly type: 'start-new-conversation' }
  | { readonly type: 'find-conversation'; readonly name: string }
  | { readonly type: 'load-conversation'; readonly id: string }
  | { readonly type: 'list-conversations' }
  | { readonly type: 'set-model'; readonly name: string }
  /** Sets the first of these modes that the task may have. */
  | {
      readonly type: 'set-mode';
      readonly task: string;
      readonly modes: readonly PermissionMode[];
    }
  | { readonly type: 'show-context'; readonly task: string }
  // Tasks
  | { readonly type: 'interrupt-task'; readonly task: string }
  | { readonly type: 'stop-task'; readonly task: string }
  | { readonly type: 'resume-task'; readonly task: string }
  | { readonly type: 'move-to-background'; readonly tasks: readonly string[] }
  | { readonly type: 'open-task'; readonly task: string }
  /** `typed` is what the user typed as the answer; null for an answer by a key. */
  | {
      readonly type: 'answer-question';
      readonly answer: QuestionAnswer;
      readonly typed: string | null;
    }
  // Logs
  | {
      readonly type: 'read-entries';
      readonly transcript: Transcript;
      readonly key: number;
      readonly next: BrowseMessage;
    }
  | {
      readonly type: 'search-log';
      readonly transcript: Transcript;
      readonly pattern: RegExp;
      readonly key: string;
      readonly by: Direction;
    }
  // Undo
  | { readonly type: 'plan-rewind'; readonly conversation: string; readonly isRedo: boolean }
  | { readonly type: 'rewind'; readonly plan: RewindPlan; readonly prompt: LastPrompt | null }
  // The user's own shell commands, and the clipboard
  | {
      readonly type: 'run-shell';
      readonly key: number;
      readonly command: string;
      readonly isShared: boolean;
    }
  | { readonly type: 'stop-shell' }
  | { readonly type: 'paste-image' }
  // The editor and the terminal
  | { readonly type: 'set-editor-text'; readonly text: string }
  | { readonly type: 'remember-input'; readonly text: string }
  | { readonly type: 'call-attention'; readonly text: string }
  | { readonly type: 'redraw' }
  | { readonly type: 'suspend' }
  | { readonly type: 'leave' };

/** The next state, and what is to be done. */
export interface Update {
  readonly state: AppState;
  readonly effects: readonly Effect[];
}

export function next(state: AppState, ...effects: readonly Effect[]): Update {
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
