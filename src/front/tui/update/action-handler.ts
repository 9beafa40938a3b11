import type { AppState } from '../model/app-state.ts';
import type { Action } from '../model/key-bindings.ts';
import type { ViewContext } from '../view/frame.ts';
import type { Update } from './effect.ts';

/** Everything that an update reads beside the state and the message. */
export type UpdateContext = ViewContext;

/** Handles a key. `armed` is the action that the previous key has prepared. */
export type ActionHandler = (
  state: AppState,
  context: UpdateContext,
  armed: AppState['armed'],
) => Update;

/** The keys of one concern. */
export type ActionHandlers = Partial<Record<Action, ActionHandler>>;
