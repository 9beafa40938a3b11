import type { AppState } from '../model/app-state.ts';
import {
  DEFAULT_BINDINGS,
  isEditingAction,
  type Action,
  type OwnAction,
} from '../model/key-bindings.ts';
import type { ActionHandler, UpdateContext } from './action-handler.ts';
import { next, type Update } from './effect.ts';
import { keyFocus, type KeyMeaning } from './key-action.ts';
import { QUESTION_ACTIONS, QUESTION_SCROLL_ACTIONS } from './questions.ts';
import { SCROLL_ACTIONS } from './scroll.ts';
import { SEARCH_ACTIONS } from './search.ts';
import { TASK_ACTIONS } from './tasks.ts';

/**
 * The handler of each key. To add one, add a row to `key-bindings.ts` and a handler to the table of its concern; the
 * compiler reports an action without a handler.
 */
const HANDLERS: Readonly<Record<OwnAction, ActionHandler>> = {
  ...QUESTION_ACTIONS,
  ...SCROLL_ACTIONS,
  ...SEARCH_ACTIONS,
  ...TASK_ACTIONS,
  'paste-image': (state) => next(state, { type: 'paste-image' }),
  redraw: (state) => next(state, { type: 'redraw' }),
  suspend: (state) => next(state, { type: 'suspend' }),
  // The editor sends and breaks lines itself.
  send: (state) => next(state),
  'new-line': (state) => next(state),
};

/** Handles a key. Every key removes the hint and whatever the previous key had prepared. */
export function pressKey(state: AppState, meaning: KeyMeaning, context: UpdateContext): Update {
  const cleared: AppState = { ...state, hint: null, armed: null };
  if (meaning === 'editor' || meaning === 'nothing' || isEditingAction(meaning)) {
    return next(cleared);
  }
  if (!hasScope(meaning, state)) return next(cleared);
  return handlerOf(meaning, state)(cleared, context, state.armed);
}

/** Whether the part of the screen for which a key is meant has the focus. `back` leaves any part. */
function hasScope(action: OwnAction, state: AppState): boolean {
  const { scope } = DEFAULT_BINDINGS[action];
  return action === 'back' || scope === 'anywhere' || scope === keyFocus(state);
}

function handlerOf(action: OwnAction, { focus }: AppState): ActionHandler {
  const scrolling: Partial<Record<Action, ActionHandler>> = QUESTION_SCROLL_ACTIONS;
  const inQuestion = focus === 'question' ? scrolling[action] : undefined;
  return inQuestion ?? HANDLERS[action];
}
