import { toCount, type Usage, type UsageMissing } from '../../../protocol/model.ts';

/** Tokens as a server reports them; a field that it did not send is absent. */
export interface ReportedUsage {
  /** All of the prompt, what was read from and written to the cache included. */
  readonly prompt?: number | undefined;
  /** The part of the prompt that was neither read from nor written to the cache. */
  readonly uncached?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** All that was generated, reasoning included. */
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/**
 * The usage that budgets count, and how much of it the server left out. A server that reports nothing but
 * zeros cannot count: no request costs nothing at all.
 */
export function toUsage(reported: ReportedUsage): {
  readonly usage: Usage;
  readonly missing: UsageMissing | null;
} {
  const cacheRead = count(reported.cacheRead);
  const cacheWrite = count(reported.cacheWrite);
  const usage: Usage = {
    input: count(reported.uncached ?? count(reported.prompt) - cacheRead - cacheWrite),
    output: count(reported.output),
    cacheRead,
    cacheWrite,
    reasoning: count(reported.reasoning),
  };
  if (usage.input + cacheRead + cacheWrite + usage.output === 0) return { usage, missing: 'all' };
  const hasInput = reported.uncached !== undefined || reported.prompt !== undefined;
  if (!hasInput) return { usage, missing: 'input' };
  return { usage, missing: reported.output === undefined ? 'output' : null };
}

/** A negative number would lift a budget, and sums have to stay finite. */
function count(tokens: number | undefined): number {
  return Math.min(toCount(tokens), Number.MAX_SAFE_INTEGER);
}
