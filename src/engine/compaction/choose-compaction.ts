import type { Compaction } from '../../protocol/state/compaction.ts';
import type { ContextLayout, ResultLayout } from './context-layout.ts';

/** The compaction before a task's next request. */
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
  /** The window in tokens. Null if unknown: then only a refusal of the provider shows that the window is full. */
  readonly window: number | null;
  /** The tokens that the request leaves for its answer. */
  readonly output: number;
  /** The size at which compaction starts: up to 1, a share of the window without `output`; above 1, tokens. */
  readonly compactAt: number;
}

/** The reason why no summary can be requested; null if it can be. */
export type SummaryObstacle = string | null;

/** The share of the window at which compaction starts if the definition of the agent sets none. */
export const DEFAULT_COMPACT_AT = 0.8;
/** The share of the trigger to which a compaction reduces the request. The rest keeps the next compaction away. */
const TARGET_SHARE = 0.6;
/** A request that the provider refused as too large is reduced to at most this share of its size. */
const REFUSED_TARGET_SHARE = 0.5;
/** The number of newest answers whose results are not cleared first, since the model works with them. */
const RECENT_TURNS = 3;
/** The minimum number of tokens of a result that is cleared, and the tokens of the line that replaces it. */
const MIN_CLEARED_TOKENS = 200;
const CLEARED_LINE_TOKENS = 50;
/** The maximum share of the trigger that the newest turns, which are kept, may have. */
const MAX_TAIL_SHARE = 0.25;
/** The maximum share of the trigger for earlier inputs, which are kept word for word. */
export const MAX_INPUTS_SHARE = 0.25;
/** The minimum share of the trigger that a compaction must free to be worth its cost. */
const MIN_FREED_SHARE = 0.1;
/** The tokens that a summary is assumed to have. */
const ASSUMED_SUMMARY_TOKENS = 1_500;
/** The maximum share of a refused request that is summarized, since a request for more would be refused too. */
const MAX_REFUSED_SHARE = 0.75;
/** The maximum number of compactions in a row without an answer, and of failed summaries in a row. */
const MAX_COMPACTIONS_IN_A_ROW = 4;
const MAX_FAILED_SUMMARIES = 2;

/**
 * Tools whose results are never cleared: results of subagents, answers of the user, instructions, and descriptions of
 * tools.
 */
const TOOLS_NEVER_CLEARED = new Set([
  'Task',
  'RunTemplate',
  'AskUser',
  'ExitPlanMode',
  'Skill',
  'ToolSearch',
]);

/** Returns the maximum number of input tokens in a window. At most half of the window is set aside for the answer. */
export function inputRoom(window: number, output: number): number {
  return window - Math.min(output, Math.floor(window / 2));
}

/** Returns the size in tokens above which a request is compacted; null if the window is unknown. */
export function compactionTrigger({ window, output, compactAt }: WindowLimits): number | null {
  if (window === null) return null;
  const room = inputRoom(window, output);
  return Math.min(room, Math.floor(compactAt <= 1 ? room * compactAt : compactAt));
}

type CompactionHistory = Pick<Compaction, 'failures' | 'sinceAnswer' | 'hasOverflowed'>;

/**
 * Chooses the compaction of a request that is close to the window. Old results are cleared if that frees enough.
 * Otherwise the beginning is summarized, with all of its results, or dropped if that is impossible. Newer results are
 * cleared only if removing the beginning would free too little.
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
  // The size of which the shares above are computed: the trigger, or a refused request that was below it.
  const reference = trigger === null || (hasOverflowed && size < trigger) ? size : trigger;
  const targetSize = hasOverflowed
    ? Math.min(reference * TARGET_SHARE, size * REFUSED_TARGET_SHARE)
    : reference * TARGET_SHARE;
  const fits =
    !hasOverflowed && limits.window !== null && size <= inputRoom(limits.window, limits.output);
  if (sinceAnswer >= MAX_COMPACTIONS_IN_A_ROW) return fits ? { kind: 'none' } : { kind: 'stuck' };
  const clearable = layout.results.filter(
    ({ tool, tokens }) => tokens >= MIN_CLEARED_TOKENS && !TOOLS_NEVER_CLEARED.has(tool),
  );
  const oldResults = clearable.filter(({ age }) => age >= RECENT_TURNS);
  const toClear = takeUntilFreed(oldResults, size - targetSize);
  if (toClear !== null) return { kind: 'clear', results: toClear };
  const cut = findHeadCut(layout, reference);
  if (cut !== null) {
    const { upTo, freed } = cut;
    if (!headFits(cut.removed, layout, limits, hasOverflowed)) {
      // Without old results, the beginning may fit into a request for a summary.
      if (oldResults.length > 0) return { kind: 'clear', results: oldResults };
      return { kind: 'drop', upTo, freed, because: 'they are too many for a request of their own' };
    }
    if (failures >= MAX_FAILED_SUMMARIES)
      return { kind: 'drop', upTo, freed, because: SUMMARIES_FAILED };
    if (whyNoSummary !== null) return { kind: 'drop', upTo, freed, because: whyNoSummary };
    return { kind: 'summarise', upTo, freed };
  }
  const largestFirst = clearable.toSorted((a, b) => b.tokens - a.tokens);
  const seenResults = largestFirst.filter(({ age }) => age > 0);
  const tokensToFree = size - (hasOverflowed ? targetSize : reference);
  if (fits) {
    // Results that the model has not seen yet are kept, or else it would request them again forever.
    const isWorthIt = countFreedTokens(seenResults) >= reference * MIN_FREED_SHARE;
    return isWorthIt
      ? { kind: 'clear', results: takeUntilFreed(seenResults, tokensToFree) ?? seenResults }
      : { kind: 'none' };
  }
  const seenFirst = [...seenResults, ...largestFirst.filter(({ age }) => age === 0)];
  const some = takeUntilFreed(seenFirst, tokensToFree) ?? seenFirst;
  return some.length > 0 ? { kind: 'clear', results: some } : { kind: 'stuck' };
}

const SUMMARIES_FAILED = 'they could not be summarized';

/** Returns the first results that together free `wanted` tokens; null if even all results free less. */
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

/** A beginning of the conversation that can be removed. */
interface HeadCut {
  /** The number of messages of the beginning. */
  readonly upTo: number;
  /** The tokens that remain free after the texts that replace the beginning were added. */
  readonly freed: number;
  /** The tokens of the beginning itself. */
  readonly removed: number;
}

/**
 * Finds the beginning of the conversation to remove, up to the start of a turn. Returns null if its removal would free
 * too little.
 *
 * @param reference the size in tokens of which the shares are computed
 */
export function findHeadCut({ turns, said }: ContextLayout, reference: number): HeadCut | null {
  const newest = turns.at(-1);
  const turn = turns.find(({ rest }) => rest <= reference * MAX_TAIL_SHARE) ?? newest;
  // The first turn is never cut off, since only inputs precede it.
  if (turn === undefined || turn === turns[0]) return null;
  const keptInputs = Math.min(said, reference * MAX_INPUTS_SHARE);
  const freed = turn.before - keptInputs - Math.min(ASSUMED_SUMMARY_TOKENS, turn.before / 4);
  if (freed < reference * MIN_FREED_SHARE) return null;
  return { upTo: turn.from, freed: Math.round(freed), removed: turn.before };
}

/** Returns true if a request for a summary of the beginning, which has `headTokens`, fits into the window. */
function headFits(
  headTokens: number,
  layout: ContextLayout,
  { window, output }: WindowLimits,
  hasOverflowed: boolean,
): boolean {
  const { size } = layout;
  if (hasOverflowed && headTokens > size * MAX_REFUSED_SHARE) return false;
  if (window === null) return true;
  const prefix = size - ((layout.turns[0]?.before ?? 0) + (layout.turns[0]?.rest ?? 0));
  return prefix + headTokens + ASSUMED_SUMMARY_TOKENS / 2 <= inputRoom(window, output);
}
