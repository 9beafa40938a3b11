import { searchPattern } from '../model/entry-search.ts';
import type { AppState } from '../model/app-state.ts';
import { openPager, type Pager, type PagerDocument, type PagerPosition } from '../model/pager.ts';
import { lastScreen, moveRows, pagerHeight, pagerLines, type PagerLines } from '../view/pager.ts';
import { matchedLines } from '../view/search-marks.ts';
import type { Direction } from './message.ts';
import {
  andThen,
  hint,
  next,
  setEditorText,
  type ActionHandlers,
  type Update,
  type UpdateContext,
} from './step.ts';

/** The handlers of the keys of the pager. */
export const PAGER_ACTIONS = {
  'pager-up': (state, context) => scrollPager(state, -1, context),
  'pager-down': (state, context) => scrollPager(state, 1, context),
  'pager-page-up': (state, context) => scrollPager(state, 1 - heightOf(state), context),
  'pager-page-down': (state, context) => scrollPager(state, heightOf(state) - 1, context),
  'pager-start': (state) => next(movePager(state, { line: 0, row: 0 })),
  'pager-end': goToEnd,
  'pager-search': startFind,
  'pager-next': (state, context) => stepFind(state, 1, context),
  'pager-previous': (state, context) => stepFind(state, -1, context),
  'pager-close': closePager,
  'find-done': finishFind,
} satisfies ActionHandlers;

/** The handlers of keys that act everywhere, while the pager is open. */
export const IN_PAGER: ActionHandlers = {
  'page-up': PAGER_ACTIONS['pager-page-up'],
  'page-down': PAGER_ACTIONS['pager-page-down'],
  'line-up': PAGER_ACTIONS['pager-up'],
  'line-down': PAGER_ACTIONS['pager-down'],
  'to-end': goToEnd,
  leave: closePager,
};

/** Opens a document in the pager. The part of the screen that has the keys gets them back when the pager is closed. */
export function showDocument(state: AppState, document: PagerDocument): Update {
  return next({
    ...state,
    focus: 'pager',
    pager: openPager(document),
    focusBehindPager: state.focus,
  });
}

/** Closes the pager, or first the search that is being typed in it. */
export function closePager(state: AppState): Update {
  if (state.writing.kind === 'find') return endFind(state);
  return next({ ...state, focus: state.focusBehindPager, pager: null });
}

function heightOf({ size }: AppState): number {
  return pagerHeight(size.height);
}

function linesOf(state: AppState, pager: Pager, { pen }: UpdateContext): PagerLines {
  return pagerLines(pager.document, state.size.width, pen);
}

function movePager(state: AppState, top: PagerPosition): AppState {
  return state.pager === null ? state : { ...state, pager: { ...state.pager, top } };
}

/** Scrolls the pager by rows, down for a positive number. */
export function scrollPager(state: AppState, by: number, context: UpdateContext): Update {
  const { pager } = state;
  if (pager === null) return next(state);
  const lines = linesOf(state, pager, context);
  return next(movePager(state, moveRows(lines, pager.top, by, heightOf(state))));
}

function goToEnd(state: AppState, context: UpdateContext): Update {
  const { pager } = state;
  if (pager === null) return next(state);
  return next(movePager(state, lastScreen(linesOf(state, pager, context), heightOf(state))));
}

function startFind(state: AppState): Update {
  return setEditorText({ ...state, writing: { kind: 'find', draft: state.typed } }, '');
}

function endFind(state: AppState): Update {
  const { writing } = state;
  if (writing.kind !== 'find') return next(state);
  return setEditorText({ ...state, writing: { kind: 'message' } }, writing.draft);
}

/** Searches the document for the typed text, and shows the first match from the top of the screen on. */
function finishFind(state: AppState, context: UpdateContext): Update {
  const { pager } = state;
  const pattern = searchPattern(state.typed);
  return andThen(endFind(state), (ended) => {
    if (pager === null) return next(ended);
    if (pattern === null)
      return next({ ...ended, pager: { ...pager, pattern, matches: [], match: null } });
    const lines = linesOf(state, pager, context);
    const matches: number[] = [];
    for (let line = 0; line < lines.count; line += 1) {
      if (lines.plain(line).search(pattern) !== -1) matches.push(line);
    }
    const searched: AppState = { ...ended, pager: { ...pager, pattern, matches, match: null } };
    const first = matches.find((line) => line >= pager.top.line) ?? matches[0];
    if (first === undefined) return hint(searched, 'nothing found');
    return next(showLine(searched, first, context));
  });
}

function stepFind(state: AppState, by: Direction, context: UpdateContext): Update {
  const { pager } = state;
  if (pager === null) return next(state);
  const { matches, match, top } = pager;
  const from = match ?? top.line - by;
  const line =
    by > 0
      ? (matches.find((each) => each > from) ?? matches[0])
      : (matches.findLast((each) => each < from) ?? matches.at(-1));
  return next(line === undefined ? state : showLine(state, line, context));
}

/** Scrolls to a match, with some rows above it. */
function showLine(state: AppState, line: number, context: UpdateContext): AppState {
  const { pager } = state;
  if (pager === null || pager.pattern === null) return state;
  const lines = linesOf(state, pager, context);
  const height = heightOf(state);
  const row = matchedLines(lines.rows(line), pager.pattern)[0] ?? 0;
  const top = moveRows(lines, { line, row }, -Math.floor(height / 4), height);
  return { ...state, pager: { ...pager, match: line, top } };
}
