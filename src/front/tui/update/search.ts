import { loadedEntries } from '../model/earlier-entries.ts';
import { transcriptInView, type Anchor, type AppState } from '../model/app-state.ts';
import { searchLoaded, searchPattern, type SearchMatch } from '../model/entry-search.ts';
import { isUnfolded } from '../view/conversation-parts.ts';
import { matchedLines } from '../view/search-marks.ts';
import { visibleRange, linesOf } from '../view/viewport.ts';
import {
  type ActionHandlers,
  type UpdateContext,
  andThen,
  next,
  setEditorText,
  type Update,
  leaveQuestion,
} from './step.ts';
import type { Direction } from './message.ts';
import { scrollToLine, drawnConversation, toggleEntry } from './scroll.ts';

export const SEARCH_ACTIONS = {
  search: startSearch,
  'search-here': startSearch,
  'search-next': (state, context) => stepSearch(state, 1, context),
  'search-previous': (state, context) => stepSearch(state, -1, context),
} satisfies ActionHandlers;

function startSearch(state: AppState): Update {
  if (state.writing.kind === 'search') return next(state);
  return andThen(leaveQuestion(state), (left) => {
    const writing = { kind: 'search', draft: left.typed } as const;
    return setEditorText(searchTyped({ ...left, chosenEntry: null, writing }, ''), '');
  });
}

/** Searches the entries in memory for the text that is typed so far. Only the first step to a match searches the log. */
export function searchTyped(state: AppState, typed: string): AppState {
  if (state.writing.kind !== 'search' || state.search?.typed === typed) return state;
  const pattern = searchPattern(typed);
  const transcript = transcriptInView(state);
  const matches = pattern === null ? [] : searchLoaded(transcript, pattern);
  const isComplete = transcript.dropped === 0;
  return { ...state, search: { typed, pattern, matches, isComplete, current: null } };
}

/** Goes to the next match (1) or the previous one (-1). The first match follows the last one. */
export function stepSearch(state: AppState, by: Direction, context: UpdateContext): Update {
  const { search } = state;
  if (search === null || search.pattern === null) return next(state);
  const { pattern, current } = search;
  const transcript = transcriptInView(state);
  const key = `${transcript.task} ${transcript.lastSeq} ${pattern.source}`;
  const isInMemory = transcript.dropped === 0;
  if (!isInMemory && state.searchedLog?.key !== key) {
    return next(state, { type: 'search-log', transcript, pattern, key, by });
  }
  const matches = isInMemory
    ? searchLoaded(transcript, pattern)
    : (state.searchedLog?.matches ?? []);
  const searched: AppState = { ...state, search: { ...search, matches, isComplete: true } };
  const { parts, height } = drawnConversation(searched, context);
  if (current !== null) {
    const lines = matchedLines(linesOf(parts, current.key), pattern);
    const isFurther = (line: number) => (by > 0 ? line > current.line : line < current.line);
    const line = by > 0 ? lines.find(isFurther) : lines.findLast(isFurther);
    if (line !== undefined) return next(showMatch(searched, { key: current.key, line }, context));
  }
  const sight = visibleRange(parts, state.anchor, height);
  const from = current?.key ?? (sight === null ? -1 : parts.part(sight.first).key - by / 4);
  const match = nextMatch(matches, from, by);
  if (match === undefined) return next(searched);
  const isLoaded = loadedEntries(transcript).some(({ key }) => key === match.key);
  if (isLoaded) return next(goToMatch(searched, match.key, by, context));
  const after = { type: 'go-to-match', key: match.key, by } as const;
  return next(searched, { type: 'read-entries', transcript, key: match.key, next: after });
}

function nextMatch(matches: readonly SearchMatch[], from: number, by: Direction) {
  return by > 0
    ? (matches.find(({ key }) => key > from) ?? matches[0])
    : (matches.findLast(({ key }) => key < from) ?? matches.at(-1));
}

/** Shows an entry that matches: its first matching line, or its last one if the search goes back. */
export function goToMatch(
  state: AppState,
  key: number,
  by: Direction,
  context: UpdateContext,
): AppState {
  const { search } = state;
  if (search === null || search.pattern === null) return state;
  // The entry of the current match is drawn unfolded, so its lines are computed after it has become the current match.
  const unfolded: AppState = { ...state, search: { ...search, current: { key, line: 0 } } };
  const drawn = linesOf(drawnConversation(unfolded, context).parts, key);
  const lines = matchedLines(drawn, search.pattern);
  return showMatch(unfolded, { key, line: (by > 0 ? lines[0] : lines.at(-1)) ?? 0 }, context);
}

function showMatch(state: AppState, current: Anchor, context: UpdateContext): AppState {
  const { search } = state;
  if (search === null) return state;
  return scrollToLine({ ...state, search: { ...search, current } }, current, context);
}

/** Ends the search. The entry of the last match stays in view and unfolded. */
export function endSearch(state: AppState): Update {
  const { writing, search } = state;
  if (writing.kind !== 'search') return next(state);
  const ended: AppState = { ...state, writing: { kind: 'message' }, search: null };
  const key = search?.current?.key;
  const isKept = key === undefined || isUnfolded(key, ended);
  return setEditorText(isKept ? ended : toggleEntry(ended, key), writing.draft);
}
