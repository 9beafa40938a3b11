import type { ModelFailure } from '../protocol/model.ts';

export interface RetryState {
  /** Failed tries of this request that count, rate limits left out. */
  readonly failures: number;
  /** Rate-limit answers in a row. */
  readonly rateLimits: number;
}

export type RetryDecision =
  | { readonly retry: true; readonly waitMs: number; readonly next: RetryState }
  | { readonly retry: false };

export const NO_FAILURES: RetryState = { failures: 0, rateLimits: 0 };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/**
 * Whether and when a failed request is sent again: exponential backoff with full jitter, or what
 * Retry-After says. A rate limit suspends and does not count; the task's own wall limit ends it.
 * `random` is in [0, 1).
 */
export function decideRetry(
  failure: ModelFailure,
  state: RetryState,
  { retries, random }: { readonly retries: number; readonly random: number },
): RetryDecision {
  if (!failure.retryable) return { retry: false };
  if (failure.kind === 'rate_limit') {
    const backoff = jittered(state.rateLimits, random);
    const waitMs =
      failure.retryAfterMs === undefined ? backoff : failure.retryAfterMs * (1 + random / 10);
    return { retry: true, waitMs, next: { ...state, rateLimits: state.rateLimits + 1 } };
  }
  if (state.failures >= retries) return { retry: false };
  const waitMs = Math.max(jittered(state.failures, random), failure.retryAfterMs ?? 0);
  return { retry: true, waitMs, next: { failures: state.failures + 1, rateLimits: 0 } };
}

function jittered(step: number, random: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** step, LONGEST_WAIT_MS) * (0.5 + random / 2);
}
