import { plural } from '../../base/text.ts';
import type { ModelFailure } from '../../protocol/model.ts';

export interface RetryState {
  /** Failed tries of this request that count, rate limits left out. */
  readonly failures: number;
  /** Those of them that a server took and then left without an answer. */
  readonly silences: number;
}

export type RetryDecision =
  | { readonly retry: true; readonly waitMs: number; readonly next: RetryState }
  /** `spent`: the limit on retries that stands against it; null: such a failure is never retried. */
  | { readonly retry: false; readonly spent: RetryLimit | null };

/**
 * `request`: the tries of this request are used up; `silent`: those after a silence. `tree`: those of its
 * whole tree.
 */
export type RetryLimit = 'request' | 'silent' | 'tree';

export interface RetryOptions {
  /** Tries of one request after the first. */
  readonly retries: number;
  /** Of those, how many may follow a silence: each costs the whole limit once more. */
  readonly silentRetries: number;
  /** Tries that the whole tree has left. */
  readonly treeRetries: number;
  /** In [0, 1). */
  readonly random: number;
}

export const NO_FAILURES: RetryState = { failures: 0, silences: 0 };

const FIRST_WAIT_MS = 500;
const MIN_WAIT_MS = 100;
const MAX_WAIT_MS = 30_000;

/**
 * Decides whether and when a failed request is sent again: exponential backoff with full jitter, and not
 * before the time that the server states. Whether that is too late is decided in `rate-limit-wait.ts`. A rate limit does not count, and is not waited for here: the request is held
 * when it is sent again, until the task's own wall limit ends it.
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
    // The silence was wait enough.
    return { retry: true, waitMs: MIN_WAIT_MS, next: { failures, silences: state.silences + 1 } };
  }
  const waitMs = Math.max(asked, computeBackoff(state.failures, random));
  return { retry: true, waitMs, next: { ...state, failures } };
}

/** Of a server that took the request. One that is not reached may be so the next moment. */
function isSilence({ kind, limit }: ModelFailure): boolean {
  return kind === 'timeout' && limit !== 'connect';
}

/** The failure, with the limit that it was given up at. `tries`: all that were made. */
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
