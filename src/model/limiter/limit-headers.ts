import { clampMs } from './concurrency-window.ts';

/** The part of the headers of a response that the limiter reads. */
export interface ResponseHeaders {
  get(name: string): string | null;
}

/** A limit of a provider that is used up. */
export interface ExhaustedLimit {
  readonly unit: 'requests' | 'tokens';
  /** The milliseconds until the provider resets the limit: more than 0, and at most `MAX_RESET_WAIT_MS`. */
  readonly resetInMs: number;
}

/**
 * The maximum time that requests wait for a reset. Many providers send the time at which the full limit is available
 * again, although a part of it is available sooner. If a request after this wait is still too early, the provider
 * refuses it and states the time to wait.
 */
export const MAX_RESET_WAIT_MS = 60_000;

/** The names of the two headers that describe a limit. */
interface HeaderPair {
  readonly unit: ExhaustedLimit['unit'];
  readonly remainingHeader: string;
  readonly resetHeader: string;
}

/**
 * The headers that the vendors document. Anthropic sends resets as dates (RFC 3339), OpenAI as durations such
 * as `6m0s`; servers that imitate OpenAI also send seconds.
 */
const LIMIT_HEADERS: readonly HeaderPair[] = [
  // Cerebras adds the period of the limit.
  ...(['requests', 'tokens', 'requests-day', 'tokens-minute'] as const).map((name) => ({
    unit: name.startsWith('requests') ? ('requests' as const) : ('tokens' as const),
    remainingHeader: `x-ratelimit-remaining-${name}`,
    resetHeader: `x-ratelimit-reset-${name}`,
  })),
  ...(['requests', 'tokens', 'input-tokens', 'output-tokens'] as const).map((name) => ({
    unit: name === 'requests' ? name : ('tokens' as const),
    remainingHeader: `anthropic-ratelimit-${name}-remaining`,
    resetHeader: `anthropic-ratelimit-${name}-reset`,
  })),
];

/**
 * Finds the exhausted limit with the latest reset. Returns null if no limit with a reset time is used up.
 * `now`: milliseconds since the epoch.
 */
export function findExhaustedLimit(headers: ResponseHeaders, now: number): ExhaustedLimit | null {
  let longest: ExhaustedLimit | null = null;
  for (const { unit, remainingHeader, resetHeader } of LIMIT_HEADERS) {
    // A server without this limit sends -1, so only 0 means that the limit is used up.
    if (headers.get(remainingHeader)?.trim() !== '0') continue;
    const resetMs = parseResetMs(headers.get(resetHeader)?.trim() ?? '', now) ?? 0;
    const resetInMs = clampMs(resetMs, MAX_RESET_WAIT_MS);
    if (resetInMs > (longest?.resetInMs ?? 0)) longest = { unit, resetInMs };
  }
  return longest;
}

/** A number from here on is seconds since the epoch. A smaller number is a duration in seconds. */
const MIN_EPOCH_SECONDS = 1e9;
/** A number from here on is milliseconds since the epoch. */
const MIN_EPOCH_MS = 1e12;
/** The maximum length of a reset header that is parsed. The values of all known servers are shorter. */
const MAX_RESET_LENGTH = 64;

/** Returns the milliseconds from `now` until the time in a reset header; null: the format is not known. */
export function parseResetMs(text: string, now: number): number | null {
  if (text === '' || text.length > MAX_RESET_LENGTH) return null;
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number >= MIN_EPOCH_MS) return number - now;
    return number >= MIN_EPOCH_SECONDS ? number * 1000 - now : number * 1000;
  }
  if (/^\d{4}-\d{2}-\d{2}T/.test(text)) {
    const date = Date.parse(text);
    return Number.isNaN(date) ? null : date - now;
  }
  return parseDurationMs(text);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000_001,
};

/** Parses durations such as `1h2m3.5s` and `120ms`. */
function parseDurationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|us|µs|ns|[dhms]))+$/.test(text)) return null;
  let ms = 0;
  for (const [, number, , unit = ''] of text.matchAll(/(\d+(\.\d+)?)(ms|us|µs|ns|[dhms])/g)) {
    ms += Number(number) * (UNIT_MS[unit] ?? 0);
  }
  return ms;
}
