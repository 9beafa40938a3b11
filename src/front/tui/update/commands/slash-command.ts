import type { AppState } from '../../model/app-state.ts';
import { next, type UiEffect, type Update, type UpdateContext } from '../step.ts';
import type { Completion } from './completions.ts';
import { showPage, type CommandHelp, type Page, type PageSource } from './pages.ts';

/** A command that is typed after a slash. */
export interface SlashCommand extends CommandHelp {
  /** Set if the command is refused for a watched conversation, which another process runs. */
  readonly needsOwnConversation?: true;
  /** Returns the completions of the argument. */
  readonly completions?: (
    state: AppState,
    library: UpdateContext['library'],
  ) => readonly Completion[];
  readonly run: (state: AppState, argument: string, context: UpdateContext) => Update;
}

/** Returns the `run` function of a command that only has an effect. */
export function does(effect: UiEffect): SlashCommand['run'] {
  return (state) => next(state, effect);
}

/** Returns the `run` function of a command that shows a page. */
export function page(build: (source: PageSource, argument: string) => Page): SlashCommand['run'] {
  return (state, argument, context) =>
    showPage(state, build({ ...context, tree: state.tree }, argument), context);
}

/** Returns the `run` function of a command that opens a picker on the screen, and shows a page in plain lines. */
export function pickOrPage(
  pick: (state: AppState, context: UpdateContext) => Update,
  inLines: SlashCommand['run'],
): SlashCommand['run'] {
  return (state, argument, context) =>
    state.surface === 'screen' ? pick(state, context) : inLines(state, argument, context);
}
