import { plural } from '../../base/text.ts';
import type { ModelFailure } from '../../protocol/model.ts';
import { formatClockTime, formatLocalDay } from '../../base/local-time.ts';

/** The failed tries of a request so far. */
interface RetryState {
  /** The number of failed tries, not counting rate limits. */
  readonly failures: number;
  /** The number of failed tries that a server accepted and did not answer. */
  readonly silences: number;
}

type RetryDecision =
  | { readonly retry: true; readonly waitMs: number; readonly next: RetryState }
  /** `reached`: the limit on retries that is reached; null if such a failure is never retried. */
  | { readonly retry: false; readonly reached: RetryLimit | null };

/**
 * A limit on retries. `request`: the retries of one request. `silent`: the retries after a silence of the server.
 * `tree`: the retries of the full task tree.
 */
type RetryLimit = 'request' | 'silent' | 'tree';

interface RetryOptions {
  /** The maximum number of retries of one request. */
  readonly retries: number;
  /** The maximum number of retries after a silence, each of which waits for the full time limit again. */
  readonly silentRetries: number;
  /** The remaining retries of the full task tree. */
  readonly treeRetries: number;
  /** A random number in [0, 1). */
  readonly random: number;
}

/** The state before the first try. */
export const NO_FAILURES: RetryState = { failures: 0, silences: 0 };

const FIRST_BACKOFF_MS = 500;
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 30_000;

/**
 * Decides whether and when a failed request is sent again: exponential backoff with full jitter, and not before the
 * time that the server states. `checkMaxWait` decides whether that time is too late. A rate limit counts for no limit
 * on retries and is not waited for here: the provider's queue holds the request when it is sent again.
 */
export function decideRetry(
  failure: ModelFailure,
  state: RetryState,
  { retries, silentRetries, treeRetries, random }: RetryOptions,
): RetryDecision {
  if (!failure.retryable) return { retry: false, reached: null };
  if (failure.kind === 'rate_limit') return { retry: true, waitMs: 0, next: state };
  const requestedMs = failure.retryAfterMs ?? 0;
  const failures = state.failures + 1;
  if (state.failures >= retries) return { retry: false, reached: 'request' };
  if (isSilence(failure) && state.silences >= silentRetries)
    return { retry: false, reached: 'silent' };
  if (treeRetries <= 0) return { retry: false, reached: 'tree' };
  if (isSilence(failure)) {
    // The silence itself was a long wait.
    return {
      retry: true,
      waitMs: MIN_BACKOFF_MS,
      next: { failures, silences: state.silences + 1 },
    };
  }
  const waitMs = Math.max(requestedMs, computeBackoff(state.failures, random));
  return { retry: true, waitMs, next: { ...state, failures } };
}

/**
 * Returns true if a server accepted the request and then sent nothing. A failed connection is not a silence: the
 * server may be reachable a moment later.
 */
function isSilence({ kind, limit }: ModelFailure): boolean {
  return kind === 'timeout' && limit !== 'connect';
}

/** Adds the reached limit on retries to the message of a failure. */
export function addRetryLimit(
  failure: ModelFailure,
  { reached, tries, limits }: RetriesUsed,
): ModelFailure {
  if (reached === null) return failure;
  const limit = {
    request: `the limit provider.retries = ${limits.retries} is reached`,
    silent: `the limit liveness.silent_retries = ${limits.silentRetries} is reached`,
    tree: 'the retries of the whole task tree, 10 + 20 % of its requests, are used up',
  }[reached];
  return {
    ...failure,
    message: `${failure.message} (given up after ${plural(tries, 'try', 'tries')}: ${limit})`,
  };
}

interface RetriesUsed {
  readonly reached: RetryLimit | null;
  readonly tries: number;
  readonly limits: Pick<RetryOptions, 'retries' | 'silentRetries'>;
}

function computeBackoff(step: number, random: number): number {
  const maxMs = Math.min(FIRST_BACKOFF_MS * 2 ** step, MAX_BACKOFF_MS);
  return Math.max(MIN_BACKOFF_MS, maxMs * random);
}

/**
 * Estimates the wait for a rate limit, in milliseconds: the time that the server states, or else a time that doubles
 * with each answer.
 *
 * @param inARow the number of consecutive rate-limit answers to the same request, including this one
 */
export function estimateRateLimitWait({ retryAfterMs }: ModelFailure, inARow: number): number {
  return retryAfterMs ?? Math.min(FIRST_BACKOFF_MS * 2 ** (inARow - 1), MAX_BACKOFF_MS);
}

/**
 * Returns the wait before the next try that the provider requires, in milliseconds: the stated time, or the estimate
 * for a rate limit without a stated time. Returns null if the provider requires no wait.
 *
 * @param inARow the number of consecutive rate-limit answers to the same request, including this one
 */
export function findRequestedWait(failure: ModelFailure, inARow: number): number | null {
  return failure.kind === 'rate_limit'
    ? estimateRateLimitWait(failure, inARow)
    : (failure.retryAfterMs ?? null);
}

interface ProviderWait {
  /** The sum of the waits in milliseconds that the provider has required for this request, including the next one. */
  readonly totalMs: number;
  /** The limit `provider.max_wait_seconds`, in milliseconds; 0 for no limit. */
  readonly maxMs: number;
  /** The present time in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Returns the failure of a request whose provider requires a longer wait than is allowed; null if the wait is
 * allowed.
 */
export function checkMaxWait(
  failure: ModelFailure,
  { totalMs, maxMs, now }: ProviderWait,
): ModelFailure | null {
  if (maxMs === 0 || totalMs <= maxMs) return null;
  const limit = `the limit provider.max_wait_seconds = ${maxMs / 1000}`;
  const { message, retryAfterMs } = failure;
  const because =
    retryAfterMs === undefined
      ? `the waits add up to ${formatWait(totalMs)}, longer than ${limit}; try again later`
      : `try again at ${formatMoment(now + retryAfterMs)}, in ${formatWait(retryAfterMs)}: that is ${retryAfterMs > maxMs ? '' : 'in all '}longer than ${limit}`;
  return { ...failure, message: `${message} (${because})` };
}

function formatMoment(ms: number): string {
  return `${formatLocalDay(ms)} ${formatClockTime(ms)}`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

function formatWait(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (ms < 2 * MINUTE_MS) return `${seconds} s`;
  const minutes = Math.ceil(ms / MINUTE_MS);
  if (ms < 2 * HOUR_MS) return `${minutes} min`;
  return minutes % 60 === 0
    ? `${minutes / 60} h`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
