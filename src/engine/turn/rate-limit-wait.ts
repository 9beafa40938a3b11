import { formatClockTime, formatLocalDay } from '../../base/local-time.ts';
import type { ModelFailure } from '../../protocol/model.ts';

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;

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
 * rate limits without a stated time are waited for. Null: the provider asks for no wait.
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
