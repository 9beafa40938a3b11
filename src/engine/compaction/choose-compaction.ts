import type { Compaction } from '../../protocol/state/compaction.ts';
import type { ContextLayout, ResultLayout } from './context-layout.ts';

/** What is done before a task's next request goes out. */
export type CompactionChoice =
  | { readonly kind: 'none' }
  /** These results are taken out. */
  | { readonly kind: 'clear'; readonly results: readonly ResultLayout[] }
  /** So many messages are summarised. */
  | { readonly kind: 'summarise'; readonly upTo: number; readonly freed: number }
  /** They are dropped. */
  | {
      readonly kind: 'drop';
      readonly upTo: number;
      readonly freed: number;
      readonly because: string;
    }
  /** It is too large, and nothing is left that could be taken out. */
  | { readonly kind: 'stuck' };

export interface WindowLimits {
  /** Tokens; null: not known, and only the provider says when it is full. */
  readonly window: number | null;
  /** Tokens that the request leaves for its answer. */
  readonly output: number;
  /** Up to 1 a share of the window without that; above, tokens. */
  readonly compactAt: number;
}

/** What stands against asking for a summary; null: nothing does. */
export type SummaryObstacle = string | null;

export const DEFAULT_COMPACT_AT = 0.8;
/** Of where it begins: room is made down to here, so that it is made rarely. */
const TARGET_SHARE = 0.6;
/** The same where only the provider knows the window: of what it has refused. */
const REFUSED_TARGET_SHARE = 0.5;
/** Results of the newest answers are worked with. */
const RECENT_TURNS = 3;
/** Tokens of a result that is worth a line in its place, and of that line. */
const MIN_CLEARED_TOKENS = 200;
const CLEARED_LINE_TOKENS = 50;
/** Of where it begins: newest turns that stay as they are. */
const KEPT_TAIL_SHARE = 0.25;
/** Of the same: what was said, word for word. */
export const MAX_SAID_SHARE = 0.25;
/** Of the same: less is not worth a summary. */
const MIN_FREED_SHARE = 0.1;
/** Tokens that a summary is taken to have. */
const USUAL_SUMMARY_TOKENS = 1_500;
/** Of a request that was refused: a summary of more would be refused, too. */
const MAX_REFUSED_SHARE = 0.75;
/** Without an answer in between, more would lead nowhere. */
const MAX_STEPS_IN_A_ROW = 4;
const MAX_FAILURES = 2;

/** What a delegate has found, people have said, and the task has been told to do, is never cleared. */
const TOOLS_NEVER_CLEARED = new Set(['Task', 'RunTemplate', 'AskUser', 'ExitPlanMode', 'Skill']);

/** Tokens of input that a window has room for. An answer is never given more than half of it. */
export function inputRoom(window: number, output: number): number {
  return window - Math.min(output, Math.floor(window / 2));
}

export function compactionTrigger({ window, output, compactAt }: WindowLimits): number | null {
  if (window === null) return null;
  const room = inputRoom(window, output);
  return Math.min(room, Math.floor(compactAt <= 1 ? room * compactAt : compactAt));
}

/**
 * What is done about a request that nears the window. Old results are cleared where that alone makes room;
 * else the beginning is summarised while it is whole; what then still stands in the way is cleared however
 * new it is.
 */
export function chooseCompaction(
  layout: ContextLayout,
  limits: WindowLimits,
  {
    failures,
    sinceAnswer,
    overflowed,
  }: Pick<Compaction, 'failures' | 'sinceAnswer' | 'overflowed'>,
  whyNoSummary: SummaryObstacle,
): CompactionChoice {
  const { size } = layout;
  const trigger = compactionTrigger(limits);
  if (!overflowed && (trigger === null || size <= trigger)) return { kind: 'none' };
  const from = trigger === null || (overflowed && size < trigger) ? size : trigger;
  const target = overflowed
    ? Math.min(from * TARGET_SHARE, size * REFUSED_TARGET_SHARE)
    : from * TARGET_SHARE;
  const fits =
    !overflowed && limits.window !== null && size <= inputRoom(limits.window, limits.output);
  if (sinceAnswer >= MAX_STEPS_IN_A_ROW) return fits ? { kind: 'none' } : { kind: 'stuck' };
  const clearable = layout.results.filter(
    ({ tool, tokens }) => tokens >= MIN_CLEARED_TOKENS && !TOOLS_NEVER_CLEARED.has(tool),
  );
  const old = clearable.filter(({ age }) => age >= RECENT_TURNS);
  const enough = takeUntilFreed(old, size - target);
  if (enough !== null) return { kind: 'clear', results: enough };
  const cut = findHeadCut(layout, from);
  if (cut !== null) {
    const { upTo, freed } = cut;
    if (!headFits(cut.before, layout, limits, overflowed)) {
      // Without its results it may.
      if (old.length > 0) return { kind: 'clear', results: old };
      return { kind: 'drop', upTo, freed, because: 'they are too many for a request of their own' };
    }
    if (failures >= MAX_FAILURES) return { kind: 'drop', upTo, freed, because: SUMMARIES_FAILED };
    if (whyNoSummary !== null) return { kind: 'drop', upTo, freed, because: whyNoSummary };
    return { kind: 'summarise', upTo, freed };
  }
  const large = clearable.toSorted((a, b) => b.tokens - a.tokens);
  const seen = large.filter(({ age }) => age > 0);
  const wanted = size - (overflowed ? target : from);
  if (fits) {
    // What the model has not seen yet is left to it: else it would ask for it again, for ever.
    const isWorthIt = countFreedTokens(seen) >= from * MIN_FREED_SHARE;
    return isWorthIt
      ? { kind: 'clear', results: takeUntilFreed(seen, wanted) ?? seen }
      : { kind: 'none' };
  }
  const all = [...seen, ...large.filter(({ age }) => age === 0)];
  const some = takeUntilFreed(all, wanted) ?? all;
  return some.length > 0 ? { kind: 'clear', results: some } : { kind: 'stuck' };
}

const SUMMARIES_FAILED = 'no summary of them could be had';

/** The first of these that give up so much; null: all together don't. */
function takeUntilFreed(
  results: readonly ResultLayout[],
  wanted: number,
): readonly ResultLayout[] | null {
  let freed = 0;
  for (const [index, result] of results.entries()) {
    freed += countFreedTokens([result]);
    if (freed >= wanted) return results.slice(0, index + 1);
  }
  return null;
}

/** Tokens that are given up where these results are cleared. */
export function countFreedTokens(results: readonly Pick<ResultLayout, 'tokens'>[]): number {
  return results.reduce((sum, { tokens }) => sum + tokens - CLEARED_LINE_TOKENS, 0);
}

interface HeadCut {
  readonly upTo: number;
  readonly freed: number;
  readonly before: number;
}

/** The beginning that is taken out, before a turn; null: that would give up too little. */
export function findHeadCut({ turns, said }: ContextLayout, from: number): HeadCut | null {
  const newest = turns.at(-1);
  const turn = turns.find(({ rest }) => rest <= from * KEPT_TAIL_SHARE) ?? newest;
  // Before the first answer there is nothing but what the task was told.
  if (turn === undefined || turn === turns[0]) return null;
  const kept = Math.min(said, from * MAX_SAID_SHARE);
  const freed = turn.before - kept - Math.min(USUAL_SUMMARY_TOKENS, turn.before / 4);
  if (freed < from * MIN_FREED_SHARE) return null;
  return { upTo: turn.from, freed: Math.round(freed), before: turn.before };
}

/** Whether a request for a summary of it has room. */
function headFits(
  before: number,
  layout: ContextLayout,
  { window, output }: WindowLimits,
  overflowed: boolean,
): boolean {
  const { size } = layout;
  if (overflowed && before > size * MAX_REFUSED_SHARE) return false;
  if (window === null) return true;
  const prefix = size - ((layout.turns[0]?.before ?? 0) + (layout.turns[0]?.rest ?? 0));
  return prefix + before + USUAL_SUMMARY_TOKENS / 2 <= inputRoom(window, output);
}
