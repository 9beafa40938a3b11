import { toCount, type Usage, type UsageMissing } from '../../../protocol/model.ts';

/** The token counts that a server reports. A field that it did not send is absent. */
export interface ReportedUsage {
  /** The full prompt, including the tokens read from and written to the cache. */
  readonly prompt?: number | undefined;
  /** The tokens of the prompt that were neither read from nor written to the cache. */
  readonly uncached?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** All generated tokens, including reasoning. */
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/**
 * Converts reported counts to the usage that budgets count, and returns what is missing. A server that reports only
 * zeros counts as reporting nothing, since no request uses no tokens.
 */
export function toUsage(reported: ReportedUsage): {
  readonly usage: Usage;
  readonly missing: UsageMissing | null;
} {
  const cacheRead = clampCount(reported.cacheRead);
  const cacheWrite = clampCount(reported.cacheWrite);
  const usage: Usage = {
    input: clampCount(reported.uncached ?? clampCount(reported.prompt) - cacheRead - cacheWrite),
    output: clampCount(reported.output),
    cacheRead,
    cacheWrite,
    reasoning: clampCount(reported.reasoning),
  };
  if (usage.input + cacheRead + cacheWrite + usage.output === 0) return { usage, missing: 'all' };
  const hasInput = reported.uncached !== undefined || reported.prompt !== undefined;
  if (!hasInput) return { usage, missing: 'input' };
  return { usage, missing: reported.output === undefined ? 'output' : null };
}

/** Limits a count: a negative number would raise a budget, and sums have to stay finite. */
function clampCount(tokens: number | undefined): number {
  return Math.min(toCount(tokens), Number.MAX_SAFE_INTEGER);
}
