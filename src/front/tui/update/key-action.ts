import { transcriptInView, type AppState, type Focus } from '../model/app-state.ts';
import { questionWithChoices } from '../model/similar-questions.ts';
import { hasWaitingMessages } from '../model/transcript.ts';
import {
  ACTIONS,
  DEFAULT_BINDINGS,
  type Action,
  type Bindings,
  type KeyScope,
  type OwnAction,
} from '../model/key-bindings.ts';

/** Everything that decides the meaning of a key. */
export type KeyContext = ReturnType<typeof keyContext>;

/** The meaning of a key: an action, `editor` if the editor handles the key, or `nothing` if the key has no effect. */
export type KeyMeaning = Action | 'editor' | 'nothing';

/** Returns the part of the screen that gets the keys. */
function keyFocus({ focus, writing }: AppState): Focus | 'search' | 'find' {
  return writing.kind === 'search' || writing.kind === 'find' ? writing.kind : focus;
}

/** The actions of keys that act everywhere and also while a list or a full text hides all that the other ones change. */
const ACTIONS_IN_DIALOGS: ReadonlySet<Action> = new Set<Action>([
  'interrupt',
  'leave',
  'page-up',
  'page-down',
  'line-up',
  'line-down',
  'to-end',
  'redraw',
  'suspend',
]);

/** Collects the facts that decide the meaning of a key. `isCompleting` says whether the editor offers completions, which Esc closes. */
export function keyContext(state: AppState, isCompleting: boolean) {
  const { tree, writing, openTask } = state;
  return {
    focus: keyFocus(state),
    isEditorEmpty: state.typed === '',
    isCompleting,
    // The editor holds an answer or a reason, and not a message.
    isAnswering: writing.kind !== 'message',
    isTaskOpen: openTask !== null,
    // Whether messages of the user to the task in view wait to be read.
    hasWaitingMessages: hasWaitingMessages(transcriptInView(state)),
    hasQuestion: tree.questions.size > 0,
    // The arrow keys choose from the answers of a question without the focus.
    isChoosing: questionWithChoices(state) !== undefined,
  };
}

/** The actions that choose an answer, also while the editor has the focus. */
const CHOOSING: ReadonlySet<Action> = new Set<Action>(['ask-up', 'ask-down']);

/** The parts of the screen in which keys without an action type text. */
const TYPING: ReadonlySet<KeyContext['focus']> = new Set(['editor', 'search', 'picker', 'find']);

/** The parts of the screen that fill it. */
const DIALOGS: ReadonlySet<KeyContext['focus']> = new Set(['picker', 'pager', 'find']);

/** Whether an action with a scope works while a part of the screen gets the keys. */
function hasScope(action: Action, scope: KeyScope, focus: KeyContext['focus']): boolean {
  if (scope !== 'anywhere') return scope === focus;
  // In the list of background shells, the key stops the selected one.
  if (focus === 'picker' && action === 'stop-focused') return true;
  return !DIALOGS.has(focus) || ACTIONS_IN_DIALOGS.has(action);
}

/**
 * Returns the meaning of a key. A question never gets a key that the user may have meant for the editor: it gets keys
 * only while it has the focus, and the key that moves the focus to it needs an empty editor.
 */
export function keyAction(key: string, context: KeyContext, bindings: Bindings): KeyMeaning {
  const meant = ACTIONS.filter((each) => isMeant(each, key, context, bindings));
  // An action of a list comes before the one that its key has everywhere else.
  const action = meant.find((each) => bindings[each].scope === 'picker') ?? meant[0];
  if (action === undefined) {
    return TYPING.has(context.focus) ? 'editor' : 'nothing';
  }
  return action === 'interrupt' ? escapeMeaning(context) : action;
}

function isMeant(action: Action, key: string, context: KeyContext, bindings: Bindings): boolean {
  const { keys, scope, needsEmptyEditor, editorAction } = bindings[action];
  if (editorAction !== undefined || !keys.includes(key)) return false;
  if (scope === 'completion') return context.isCompleting && context.focus === 'editor';
  if (context.isChoosing && CHOOSING.has(action)) return !context.isCompleting;
  if (!hasScope(action, scope, context.focus)) return false;
  if (needsEmptyEditor === true && !context.isEditorEmpty) return false;
  if (action === 'focus-question') return context.hasQuestion && !context.isAnswering;
  if (action === 'back') return context.isTaskOpen;
  if (action === 'take-back') {
    const { isAnswering, isChoosing, isCompleting } = context;
    // Completions and answers take the arrow keys.
    return context.hasWaitingMessages && !(isAnswering || isChoosing || isCompleting);
  }
  return true;
}

/** The facts that decide what Esc does. */
export type EscapeContext = Pick<
  KeyContext,
  'focus' | 'hasWaitingMessages' | 'isAnswering' | 'isCompleting' | 'isTaskOpen'
>;

/** The meanings of Esc with their conditions. The first one whose condition holds applies. */
const ESCAPE_ORDER: readonly (readonly [KeyMeaning, (context: EscapeContext) => boolean])[] = [
  // Closes a dialog, a search or an answer, or returns from another part of the screen.
  ['back', ({ focus, isAnswering }) => focus !== 'editor' || isAnswering],
  // Closes the completions.
  ['editor', ({ isCompleting }) => isCompleting],
  // Leaves the open task.
  ['back', ({ isTaskOpen }) => isTaskOpen],
  ['take-back', ({ hasWaitingMessages: hasWaiting }) => hasWaiting],
  // Stops a shell command, the turn or the tree; offers an undo if nothing is at work.
  ['interrupt', () => true],
];

/** Returns the meaning of Esc: the first row of `ESCAPE_ORDER` that applies. */
export function escapeMeaning(context: EscapeContext): KeyMeaning {
  return ESCAPE_ORDER.find(([, applies]) => applies(context))?.[0] ?? 'interrupt';
}

/** Whether the part of the screen to which an action belongs has the focus. `back` belongs to all parts. */
export function isInScope(action: OwnAction, state: AppState): boolean {
  const { scope } = DEFAULT_BINDINGS[action];
  if (scope === 'completion') return state.focus === 'editor';
  if (CHOOSING.has(action) && questionWithChoices(state) !== undefined) return true;
  return action === 'back' || hasScope(action, scope, keyFocus(state));
}
