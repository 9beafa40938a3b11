import type { Compaction } from '../../protocol/state/compaction.ts';
import type { ContextLayout, ResultLayout } from './context-layout.ts';

/** The compaction that is done before a task's next request is sent. */
export type CompactionChoice =
  | { readonly kind: 'none' }
  /** These results are cleared. */
  | { readonly kind: 'clear'; readonly results: readonly ResultLayout[] }
  /** The first `upTo` messages are summarized. */
  | { readonly kind: 'summarise'; readonly upTo: number; readonly freed: number }
  /** The first `upTo` messages are dropped. */
  | {
      readonly kind: 'drop';
      readonly upTo: number;
      readonly freed: number;
      readonly because: string;
    }
  /** The request is too large, and nothing more can be removed. */
  | { readonly kind: 'stuck' };

/** The limits of a model's context window. */
export interface WindowLimits {
  /** The window in tokens; null if unknown, in which case only the provider says when it is full. */
  readonly window: number | null;
  /** The tokens that the request leaves for its answer. */
  readonly output: number;
  /** The size at which compaction starts: up to 1, a share of the window without `output`; above 1, tokens. */
  readonly compactAt: number;
}

/** The reason why no summary can be asked for; null if one can. */
export type SummaryObstacle = string | null;

export const DEFAULT_COMPACT_AT = 0.8;
/** The share of the trigger that is the target of a compaction, so that compaction is rare. */
const TARGET_SHARE = 0.6;
/** The share of a refused request that is the target, if only the provider knows the window. */
const REFUSED_TARGET_SHARE = 0.5;
/** Results of this many newest answers are not cleared first: the model works with them. */
const RECENT_TURNS = 3;
/** The fewest tokens of a result that is cleared, and the tokens of the line that replaces it. */
const MIN_CLEARED_TOKENS = 200;
const CLEARED_LINE_TOKENS = 50;
/** The share of the trigger that the newest turns keep. */
const KEPT_TAIL_SHARE = 0.25;
/** The largest share of the trigger that earlier inputs keep, word for word. */
export const MAX_SAID_SHARE = 0.25;
/** The smallest share of the trigger that a summary must free. */
const MIN_FREED_SHARE = 0.1;
/** The tokens that a summary is assumed to have. */
const USUAL_SUMMARY_TOKENS = 1_500;
/** The largest share of a refused request that is summarized: a request for more would be refused, too. */
const MAX_REFUSED_SHARE = 0.75;
/** The maximum number of compactions in a row without an answer, and the maximum number of failed summaries. */
const MAX_STEPS_IN_A_ROW = 4;
const MAX_FAILURES = 2;

/** Tools whose results are never cleared: findings of subagents, answers of the user, and instructions. */
const TOOLS_NEVER_CLEARED = new Set(['Task', 'RunTemplate', 'AskUser', 'ExitPlanMode', 'Skill']);

/** Returns the tokens of input that a window has room for. An answer never gets more than half of the window. */
export function inputRoom(window: number, output: number): number {
  return window - Math.min(output, Math.floor(window / 2));
}

/** Returns the size in tokens from which a request is compacted; null if the window is unknown. */
export function compactionTrigger({ window, output, compactAt }: WindowLimits): number | null {
  if (window === null) return null;
  const room = inputRoom(window, output);
  return Math.min(room, Math.floor(compactAt <= 1 ? room * compactAt : compactAt));
}

type CompactionHistory = Pick<Compaction, 'failures' | 'sinceAnswer' | 'hasOverflowed'>;

/**
 * Chooses the compaction of a request that nears the window. Old results are cleared if that alone frees enough.
 * Or else the beginning is summarized while it is complete. Only then are newer results cleared.
 */
export function chooseCompaction(
  layout: ContextLayout,
  limits: WindowLimits,
  { failures, sinceAnswer, hasOverflowed }: CompactionHistory,
  whyNoSummary: SummaryObstacle,
): CompactionChoice {
  const { size } = layout;
  const trigger = compactionTrigger(limits);
  if (!hasOverflowed && (trigger === null || size <= trigger)) return { kind: 'none' };
  const from = trigger === null || (hasOverflowed && size < trigger) ? size : trigger;
  const target = hasOverflowed
    ? Math.min(from * TARGET_SHARE, size * REFUSED_TARGET_SHARE)
    : from * TARGET_SHARE;
  const fits =
    !hasOverflowed && limits.window !== null && size <= inputRoom(limits.window, limits.output);
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
    if (!headFits(cut.before, layout, limits, hasOverflowed)) {
      // Without its old results the beginning may fit.
      if (old.length > 0) return { kind: 'clear', results: old };
      return { kind: 'drop', upTo, freed, because: 'they are too many for a request of their own' };
    }
    if (failures >= MAX_FAILURES) return { kind: 'drop', upTo, freed, because: SUMMARIES_FAILED };
    if (whyNoSummary !== null) return { kind: 'drop', upTo, freed, because: whyNoSummary };
    return { kind: 'summarise', upTo, freed };
  }
  const large = clearable.toSorted((a, b) => b.tokens - a.tokens);
  const seen = large.filter(({ age }) => age > 0);
  const wanted = size - (hasOverflowed ? target : from);
  if (fits) {
    // Results that the model has not seen yet stay, or else it would ask for them again forever.
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

/** Returns the first results that free `wanted` tokens together; null if all of them do not. */
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

/** Counts the tokens that clearing these results frees. */
export function countFreedTokens(results: readonly Pick<ResultLayout, 'tokens'>[]): number {
  return results.reduce((sum, { tokens }) => sum + tokens - CLEARED_LINE_TOKENS, 0);
}

interface HeadCut {
  readonly upTo: number;
  readonly freed: number;
  readonly before: number;
}

/**
 * Finds the beginning of the conversation to remove, up to the start of a turn; null if that would free too
 * little.
 */
export function findHeadCut({ turns, said }: ContextLayout, from: number): HeadCut | null {
  const newest = turns.at(-1);
  const turn = turns.find(({ rest }) => rest <= from * KEPT_TAIL_SHARE) ?? newest;
  // Only inputs stand before the first answer.
  if (turn === undefined || turn === turns[0]) return null;
  const kept = Math.min(said, from * MAX_SAID_SHARE);
  const freed = turn.before - kept - Math.min(USUAL_SUMMARY_TOKENS, turn.before / 4);
  if (freed < from * MIN_FREED_SHARE) return null;
  return { upTo: turn.from, freed: Math.round(freed), before: turn.before };
}

/** Says whether a request for a summary of the beginning fits into the window. */
function headFits(
  before: number,
  layout: ContextLayout,
  { window, output }: WindowLimits,
  hasOverflowed: boolean,
): boolean {
  const { size } = layout;
  if (hasOverflowed && before > size * MAX_REFUSED_SHARE) return false;
  if (window === null) return true;
  const prefix = size - ((layout.turns[0]?.before ?? 0) + (layout.turns[0]?.rest ?? 0));
  return prefix + before + USUAL_SUMMARY_TOKENS / 2 <= inputRoom(window, output);
}
