import { type Place, ACTIONS, type Action, type Bindings } from '../model/key-bindings.ts';
import type { Look } from '../model/view-state.ts';
import type { UiState } from '../model/task-tree.ts';

/** What decides what a key does. */
export interface KeyContext {
  /** What keys are for. */
  readonly focus: Exclude<Place, 'anywhere' | 'completion'>;
  readonly isEditorEmpty: boolean;
  /** The editor offers completions, and Esc closes these. */
  readonly isCompleting: boolean;
  /** What is typed is an answer or a reason, and no message. */
  readonly isAnswering: boolean;
  /** A task is looked into, and not the conversation. */
  readonly isTaskOpen: boolean;
  /** What is looked at is at work. */
  readonly isAtWork: boolean;
  readonly hasQuestion: boolean;
}

/** `editor`: the key is the editor's. `nothing`: it does nothing. */
export type KeyMeaning = Action | 'editor' | 'nothing';

/**
 * What a key does. A question never takes a key that may be meant for the editor: keys are for it only once
 * the key for that was pressed, which works with an empty editor alone.
 */
export function keyAction(key: string, context: KeyContext, bindings: Bindings): KeyMeaning {
  const own = ACTIONS.find((action) => fits(action, key, context, bindings));
  if (own === undefined) {
    return context.focus === 'editor' || context.focus === 'search' ? 'editor' : 'nothing';
  }
  return own === 'interrupt' ? interruptIn(context) : own;
}

function fits(action: Action, key: string, context: KeyContext, bindings: Bindings): boolean {
  const { keys, place, needsEmptyEditor, isEditors } = bindings[action];
  if (isEditors === true || !keys.includes(key)) return false;
  if (place !== 'anywhere' && place !== context.focus) return false;
  if (needsEmptyEditor === true && !context.isEditorEmpty) return false;
  if (action === 'focus-question') return context.hasQuestion && !context.isAnswering;
  if (action === 'back') return context.isTaskOpen;
  return true;
}

function interruptIn(context: KeyContext): KeyMeaning {
  if (context.focus !== 'editor' || context.isAnswering) return 'back';
  if (context.isCompleting) return 'editor';
  if (context.isTaskOpen && !context.isAtWork) return 'back';
  return 'interrupt';
}

/** What of all that there is decides what a key does. */
export function keyContext(
  { ui, look }: { readonly ui: UiState; readonly look: Look },
  editor: { getText(): string; isShowingAutocomplete(): boolean },
): KeyContext {
  const shown = look.openTask ?? ui.root;
  return {
    focus: look.writing.kind === 'search' ? 'search' : look.focus,
    isEditorEmpty: editor.getText() === '',
    isCompleting: editor.isShowingAutocomplete(),
    isAnswering: look.writing.kind !== 'message',
    isTaskOpen: look.openTask !== null,
    isAtWork: shown !== null && ui.rows.get(shown)?.endedAt === null,
    hasQuestion: ui.questions.size > 0,
  };
}
