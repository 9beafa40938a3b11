import { transcriptInView, type Anchor, type AppState } from '../model/app-state.ts';
import { gapCount, loadedEntries, olderCount } from '../model/earlier-entries.ts';
import { isSelectable, type SelectableEntry } from '../model/entry.ts';
import type { Transcript } from '../model/transcript.ts';
import { groupCalls } from '../model/call-groups.ts';
import { isUnfolded } from '../view/conversation-parts.ts';
import { isFoldable } from '../view/entry-lines.ts';
import { frameLayout, partsInView } from '../view/frame.ts';
import {
  anchorShowing,
  visibleRange,
  linesOf,
  anchorAfterScroll,
  viewAt,
  type Parts,
} from '../view/viewport.ts';
import {
  type ActionHandlers,
  type UpdateContext,
  hint,
  next,
  andThen,
  type Update,
  leaveQuestion,
  changeTerminal,
} from './step.ts';
import type { BrowseMessage, UiMessage } from './message.ts';

/** The handlers of the keys that scroll the conversation and unfold its entries. */
export const SCROLL_ACTIONS = {
  'page-up': (state, context) => scrollBy(state, 1 - heightInView(state, context), context),
  'page-down': (state, context) => scrollBy(state, heightInView(state, context) - 1, context),
  'line-up': (state, context) => scrollBy(state, -1, context),
  'line-down': (state, context) => scrollBy(state, 1, context),
  'to-end': (state) => next(followEnd(state)),
  expand: (state) => {
    const detail = state.terminal.detail === 'full' ? 'short' : 'full';
    const text =
      detail === 'full' ? 'changes and output are shown' : 'changes and output are folded';
    return hint(changeTerminal(state, { detail }), text);
  },
  'focus-entries': (state, context) =>
    state.focus === 'entries' ? next(leaveEntries(state)) : focusEntries(state, context),
  'entry-up': (state, context) => chooseEntry(state, { type: 'choose-entry', by: -1 }, context),
  'entry-down': (state, context) => chooseEntry(state, { type: 'choose-entry', by: 1 }, context),
  'unfold-entry': unfoldEntry,
  'view-entry': viewEntry,
} satisfies ActionHandlers;

/** Returns the parts of the conversation in view, and the number of lines that the view has. */
export function drawnConversation(
  state: AppState,
  context: UpdateContext,
): { readonly parts: Parts; readonly height: number } {
  return { parts: partsInView(state, context), height: heightInView(state, context) };
}

function heightInView(state: AppState, context: UpdateContext): number {
  return frameLayout(state, context).conversation;
}

/** Scrolls by lines, down for a positive number. Older entries are read from the log first if they come into view. */
export function scroll(
  state: AppState,
  message: Extract<BrowseMessage, { type: 'scroll' }>,
  context: UpdateContext,
): Update {
  const { lines } = message;
  const reading = readAhead(state, lines, message, context);
  if (reading !== null) return reading;
  const { parts, height } = drawnConversation(state, context);
  const anchor = anchorAfterScroll(parts, state.anchor, lines, height);
  return next(anchor === null ? followEnd(state) : { ...state, anchor });
}

function scrollBy(state: AppState, lines: number, context: UpdateContext): Update {
  return scroll(state, { type: 'scroll', lines }, context);
}

export function followEnd(state: AppState): AppState {
  return withEarlierEntries({ ...state, anchor: null }, null);
}

/** Adds entries that were read back from the log. Ignores entries of a transcript that is no longer in view. */
export function receiveEntries(
  state: AppState,
  { task, earlier }: Extract<UiMessage, { type: 'entries-read' }>,
): AppState {
  if (earlier === null || transcriptInView(state).task !== task) return state;
  return withEarlierEntries(state, earlier);
}

/** Replaces the entries that were read back from the log of the transcript in view. */
function withEarlierEntries(state: AppState, earlier: Transcript['earlier']): AppState {
  const transcript = transcriptInView(state);
  if (transcript.earlier === earlier) return state;
  const changed = { ...transcript, earlier };
  const side = transcript === state.tree.main ? { main: changed } : { opened: changed };
  return { ...state, tree: { ...state.tree, ...side } };
}

/** Scrolls to the beginning of the last entry if it is longer than the view; otherwise the view follows the end. */
export function showFromStart(state: AppState, key: number, context: UpdateContext): AppState {
  const { parts, height } = drawnConversation(state, context);
  const line = linesOf(parts, key)[0] === '' ? 1 : 0;
  return { ...state, anchor: viewAt(parts, { key, line }, height).anchor };
}

/**
 * Selects the last entry in view of which more can be shown: a call, a command or a thought, which the lines about hidden
 * text refer to. If none is in view, it is the last entry that can be selected.
 */
function focusEntries(state: AppState, context: UpdateContext): Update {
  const { parts, height } = drawnConversation(state, context);
  const sight = visibleRange(parts, state.anchor, height);
  const end = sight === null ? Infinity : parts.part(sight.last).key;
  const keys = selectableKeys(state);
  const start = sight === null ? -Infinity : parts.part(sight.first).key;
  const foldable = new Set(
    loadedEntries(transcriptInView(state))
      .filter(isFoldable)
      .map(({ key }) => key),
  );
  const chosen =
    keys.findLast((key) => key >= start && key <= end && foldable.has(key)) ??
    keys.findLast((key) => key <= end) ??
    keys[0];
  if (chosen === undefined) return hint(state, 'there is nothing to unfold yet');
  return andThen(leaveQuestion(state), (left) =>
    next(selectEntry({ ...left, focus: 'entries' }, chosen, context)),
  );
}

/** Selects the next entry (1) or the previous one (-1). */
export function chooseEntry(
  state: AppState,
  message: Extract<BrowseMessage, { type: 'choose-entry' }>,
  context: UpdateContext,
): Update {
  const { by } = message;
  const { chosenEntry } = state;
  if (chosenEntry === null) return next(state);
  const reading = readAhead(state, by, message, context);
  if (reading !== null) return reading;
  const keys = selectableKeys(state);
  const key =
    by < 0 ? keys.findLast((each) => each < chosenEntry) : keys.find((each) => each > chosenEntry);
  return next(key === undefined ? state : selectEntry(state, key, context));
}

function selectEntry(state: AppState, key: number, context: UpdateContext): AppState {
  const selected: AppState = { ...state, chosenEntry: key };
  return scrollToLine(selected, { key, line: 0 }, context);
}

/** Scrolls as little as possible to show a line. */
export function scrollToLine(state: AppState, to: Anchor, context: UpdateContext): AppState {
  const { parts, height } = drawnConversation(state, context);
  return { ...state, anchor: anchorShowing(parts, state.anchor, to, height) };
}

export function leaveEntries(state: AppState): AppState {
  return { ...state, focus: 'editor', chosenEntry: null };
}

function chosenEntryOf(state: AppState): SelectableEntry | undefined {
  return loadedEntries(transcriptInView(state))
    .filter(isSelectable)
    .find(({ key }) => key === state.chosenEntry);
}

/** Unfolds or folds the selected entry. An entry that is always shown in the same way is opened in the pager. */
function unfoldEntry(state: AppState): Update {
  const entry = chosenEntryOf(state);
  if (entry === undefined) return next(state);
  return isFoldable(entry) ? next(toggleEntry(state, entry.key)) : viewEntry(state);
}

/** Opens the full text of the selected entry in the pager. */
function viewEntry(state: AppState): Update {
  const entry = chosenEntryOf(state);
  if (entry === undefined) return next(state);
  return next(state, { type: 'read-full-entry', transcript: transcriptInView(state), entry });
}

export function toggleEntry(state: AppState, key: number): AppState {
  const toggled = new Set(state.toggled);
  if (!toggled.delete(key)) toggled.add(key);
  return { ...state, toggled };
}

/** Returns the keys of the entries that can be selected: all but the calls of a folded block, of which only the first can. */
function selectableKeys(state: AppState): readonly number[] {
  const transcript = transcriptInView(state);
  const groups = [transcript.earlier?.entries ?? [], transcript.entries].map(groupCalls);
  const isHidden = (key: number): boolean => {
    const [first] = groups.flatMap((each) => each.get(key)?.calls ?? []);
    return first !== undefined && first.key !== key && !isUnfolded(first.key, state);
  };
  return loadedEntries(transcript)
    .filter((entry) => isSelectable(entry) && !isHidden(entry.key))
    .map(({ key }) => key);
}

/**
 * Returns an update that reads the entries which come into view next from the log, and then repeats the message. Returns
 * null if these entries are loaded.
 */
function readAhead(
  state: AppState,
  by: number,
  message: Exclude<BrowseMessage, { type: 'go-to-match' }>,
  context: UpdateContext,
): Update | null {
  if (message.isLoaded === true) return null;
  const transcript = transcriptInView(state);
  const older = olderCount(transcript);
  const gap = gapCount(transcript);
  if (older === 0 && gap === 0) return null;
  const { parts, height } = drawnConversation(state, context);
  const sight = visibleRange(parts, state.anchor, height);
  if (sight === null) return null;
  const near = height + Math.abs(by);
  // The index of the part that only counts the entries between those read back and those in memory.
  const between = (transcript.earlier?.entries.length ?? 0) + 1;
  const isAtTop = older > 0 && by < 0 && sight.first <= near;
  const isAtGap =
    gap > 0 &&
    (by < 0
      ? sight.first > between && sight.first - between <= near
      : sight.last >= between - near && sight.first <= between);
  if (!isAtTop && !isAtGap) return null;
  const own = Math.max(sight.first, 1) === between ? between + 1 : Math.max(sight.first, 1);
  const { key } = parts.part(own);
  // A line that only counts entries disappears when they are read, so the view is anchored at an entry instead.
  const isMoved = state.anchor !== null && own !== sight.first;
  const anchored: AppState = isMoved ? { ...state, anchor: { key, line: 0 } } : state;
  const repeated = { ...message, isLoaded: true } as const;
  return next(anchored, { type: 'read-entries', transcript, key, next: repeated });
}
