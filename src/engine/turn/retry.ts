import { plural } from '../../base/text.ts';
import type { ModelFailure } from '../../protocol/model.ts';
import { formatClockTime, formatLocalDay } from '../../base/local-time.ts';

interface RetryState {
  /** Failed tries of this request, without those that met a rate limit. */
  readonly failures: number;
  /** Failed tries that a server accepted and then left without an answer. */
  readonly silences: number;
}

type RetryDecision =
  | { readonly retry: true; readonly waitMs: number; readonly next: RetryState }
  /** `spent`: the limit on retries that is reached; null if such a failure is never retried. */
  | { readonly retry: false; readonly spent: RetryLimit | null };

/**
 * The limit on retries that is reached: `request`: the tries of one request; `silent`: the tries after a
 * silence; `tree`: the tries of the full task tree.
 */
type RetryLimit = 'request' | 'silent' | 'tree';

interface RetryOptions {
  /** Tries of one request after the first. */
  readonly retries: number;
  /** The most of those that follow a silence: each waits for the full time limit once more. */
  readonly silentRetries: number;
  /** The remaining tries of the full task tree. */
  readonly treeRetries: number;
  /** A random number in [0, 1). */
  readonly random: number;
}

export const NO_FAILURES: RetryState = { failures: 0, silences: 0 };

const FIRST_WAIT_MS = 500;
const MIN_WAIT_MS = 100;
const MAX_WAIT_MS = 30_000;

/**
 * Decides whether and when a failed request is sent again: exponential backoff with full jitter, and not before
 * the time that the server states. `rate-limit-wait.ts` decides if that is too late. A rate limit does
 * not count, and is not waited for here: the request is held when it is sent again, until the task's own wall
 * limit ends it.
 */
export function decideRetry(
  failure: ModelFailure,
  state: RetryState,
  { retries, silentRetries, treeRetries, random }: RetryOptions,
): RetryDecision {
  if (!failure.retryable) return { retry: false, spent: null };
  if (failure.kind === 'rate_limit') return { retry: true, waitMs: 0, next: state };
  const asked = failure.retryAfterMs ?? 0;
  const failures = state.failures + 1;
  if (state.failures >= retries) return { retry: false, spent: 'request' };
  if (isSilence(failure) && state.silences >= silentRetries)
    return { retry: false, spent: 'silent' };
  if (treeRetries <= 0) return { retry: false, spent: 'tree' };
  if (isSilence(failure)) {
    // The silence was long enough a wait.
    return { retry: true, waitMs: MIN_WAIT_MS, next: { failures, silences: state.silences + 1 } };
  }
  const waitMs = Math.max(asked, computeBackoff(state.failures, random));
  return { retry: true, waitMs, next: { ...state, failures } };
}

/**
 * Says whether a server accepted the request and then fell silent. A server that could not be reached does not
 * count: it may be reachable a moment later.
 */
function isSilence({ kind, limit }: ModelFailure): boolean {
  return kind === 'timeout' && limit !== 'connect';
}

/** Adds the reached limit on retries to the message of a failure. */
export function addRetryLimit(
  failure: ModelFailure,
  { spent, tries, limits: most }: RetriesUsed,
): ModelFailure {
  if (spent === null) return failure;
  const limit = {
    request: `the limit provider.retries = ${most.retries} is reached`,
    silent: `the limit liveness.silent_retries = ${most.silentRetries} is reached`,
    tree: 'the retries of the whole task tree, 10 + 20 % of its requests, are used up',
  }[spent];
  return {
    ...failure,
    message: `${failure.message} (given up after ${plural(tries, 'try', 'tries')}: ${limit})`,
  };
}

interface RetriesUsed {
  readonly spent: RetryLimit | null;
  readonly tries: number;
  readonly limits: Pick<RetryOptions, 'retries' | 'silentRetries'>;
}

function computeBackoff(step: number, random: number): number {
  const most = Math.min(FIRST_WAIT_MS * 2 ** step, MAX_WAIT_MS);
  return Math.max(MIN_WAIT_MS, most * random);
}

/**
 * Estimates how long to wait for a rate limit: as the server asks, or else longer each time.
 *
 * @param inARow rate-limit answers to the same request, one after another, this one counted
 */
export function estimateRateLimitWait({ retryAfterMs }: ModelFailure, inARow: number): number {
  return retryAfterMs ?? Math.min(FIRST_WAIT_MS * 2 ** (inARow - 1), MAX_WAIT_MS);
}

/**
 * Returns how long the next try of a request has to wait because of its provider: as the server states, or as
 * rate limits without a stated time are waited for. Returns null if the provider asks for no wait.
 *
 * @param inARow rate-limit answers to the same request, one after another, this one counted
 */
export function findRequestedWait(failure: ModelFailure, inARow: number): number | null {
  return failure.kind === 'rate_limit'
    ? estimateRateLimitWait(failure, inARow)
    : (failure.retryAfterMs ?? null);
}

interface ProviderWait {
  /** The sum of the waits that the provider has asked for before this request, including this one. */
  readonly totalMs: number;
  /** `provider.max_wait_seconds`; 0: no limit. */
  readonly maxMs: number;
  /** The present time in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Returns the failure of a request whose provider asks for a longer wait than is allowed; null: it is waited for.
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
      ? `it was waited for ${durationText(totalMs)}, longer than ${limit}; try again later`
      : `try again at ${momentText(now + retryAfterMs)}, in ${durationText(retryAfterMs)}: that is ${retryAfterMs > maxMs ? '' : 'in all '}longer than ${limit}`;
  return { ...failure, message: `${message} (${because})` };
}

function momentText(ms: number): string {
  return `${formatLocalDay(ms)} ${formatClockTime(ms)}`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (ms < 2 * MINUTE_MS) return `${seconds} s`;
  const minutes = Math.ceil(ms / MINUTE_MS);
  if (ms < 2 * HOUR_MS) return `${minutes} min`;
  return minutes % 60 === 0
    ? `${minutes / 60} h`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
