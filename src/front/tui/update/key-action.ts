import type { AppState, Focus } from '../model/app-state.ts';
import { ACTIONS, type Action, type Bindings } from '../model/key-bindings.ts';

/** Everything that decides the meaning of a key. */
export type KeyContext = ReturnType<typeof keyContext>;

/** An action; `editor` if the editor handles the key; `nothing` if it has no meaning here. */
export type KeyMeaning = Action | 'editor' | 'nothing';

/** The part of the screen that gets the keys. */
export function keyFocus({ focus, writing }: AppState): Focus | 'search' {
  return writing.kind === 'search' ? 'search' : focus;
}

/** Collects what decides the meaning of a key. `isCompleting`: the editor offers completions, which Esc closes. */
export function keyContext(state: AppState, isCompleting: boolean) {
  const { tree, writing, openTask } = state;
  const task = openTask ?? tree.root;
  return {
    focus: keyFocus(state),
    isEditorEmpty: state.typed === '',
    isCompleting,
    // The editor holds an answer or a reason, and not a message.
    isAnswering: writing.kind !== 'message',
    isTaskOpen: openTask !== null,
    // Whether the task in view is at work.
    isAtWork: task !== null && tree.rows.get(task)?.endedAt === null,
    hasQuestion: tree.questions.size > 0,
  };
}

/**
 * The meaning of a key. A question never takes a key that may be meant for the editor: it gets keys only after the
 * key that focuses it, which needs an empty editor.
 */
export function keyAction(key: string, context: KeyContext, bindings: Bindings): KeyMeaning {
  const action = ACTIONS.find((each) => isMeant(each, key, context, bindings));
  if (action === undefined) {
    return context.focus === 'editor' || context.focus === 'search' ? 'editor' : 'nothing';
  }
  return action === 'interrupt' ? interruptMeaning(context) : action;
}

function isMeant(action: Action, key: string, context: KeyContext, bindings: Bindings): boolean {
  const { keys, scope, needsEmptyEditor, editorAction } = bindings[action];
  if (editorAction !== undefined || !keys.includes(key)) return false;
  if (scope !== 'anywhere' && scope !== context.focus) return false;
  if (needsEmptyEditor === true && !context.isEditorEmpty) return false;
  if (action === 'focus-question') return context.hasQuestion && !context.isAnswering;
  if (action === 'back') return context.isTaskOpen;
  return true;
}

function interruptMeaning(context: KeyContext): KeyMeaning {
  if (context.focus !== 'editor' || context.isAnswering) return 'back';
  if (context.isCompleting) return 'editor';
  if (context.isTaskOpen && !context.isAtWork) return 'back';
  return 'interrupt';
}
