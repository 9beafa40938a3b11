import { clampMs } from './concurrency-window.ts';

/** The part of the headers of a response that the limiter reads. */
export interface ResponseHeaders {
  get(name: string): string | null;
}

/** A limit of a provider that is used up. */
export interface ExhaustedLimit {
  readonly unit: 'requests' | 'tokens';
  /** Milliseconds until it is reset, more than 0. */
  readonly resetInMs: number;
}

/**
 * The maximum wait for a reset. Many providers send the time at which the full limit is available again, although a
 * part of it is available sooner. If the provider still refuses then, its response says how long to wait.
 */
export const MAX_HOLD_MS = 60_000;

interface HeaderPair {
  readonly unit: ExhaustedLimit['unit'];
  readonly remaining: string;
  readonly reset: string;
}

/**
 * The headers that the vendors document. Anthropic sends resets as dates (RFC 3339), OpenAI as durations such
 * as `6m0s`; servers that imitate OpenAI also send seconds.
 */
const LIMIT_HEADERS: readonly HeaderPair[] = [
  // Cerebras adds the time to which the limit applies.
  ...(['requests', 'tokens', 'requests-day', 'tokens-minute'] as const).map((name) => ({
    unit: name.startsWith('requests') ? ('requests' as const) : ('tokens' as const),
    remaining: `x-ratelimit-remaining-${name}`,
    reset: `x-ratelimit-reset-${name}`,
  })),
  ...(['requests', 'tokens', 'input-tokens', 'output-tokens'] as const).map((name) => ({
    unit: name === 'requests' ? name : ('tokens' as const),
    remaining: `anthropic-ratelimit-${name}-remaining`,
    reset: `anthropic-ratelimit-${name}-reset`,
  })),
];

/**
 * Finds the used-up limit whose reset is furthest away. Returns null if no limit with a reset time is used up.
 * `now`: milliseconds since the epoch.
 */
export function findExhaustedLimit(headers: ResponseHeaders, now: number): ExhaustedLimit | null {
  let longest: ExhaustedLimit | null = null;
  for (const { unit: what, remaining, reset } of LIMIT_HEADERS) {
    // A server without this limit sends -1, so only 0 means that the limit is used up.
    if (headers.get(remaining)?.trim() !== '0') continue;
    const ms = clampMs(parseResetMs(headers.get(reset)?.trim() ?? '', now) ?? 0, MAX_HOLD_MS);
    if (ms > (longest?.resetInMs ?? 0)) longest = { unit: what, resetInMs: ms };
  }
  return longest;
}

/** Numbers from these on are times since the epoch; smaller ones are durations in seconds. */
const MIN_EPOCH_SECONDS = 1e9;
const MIN_EPOCH_MS = 1e12;
/** The maximum length of a reset that is parsed. All known ones are shorter. */
const MAX_RESET_LENGTH = 64;

/** Returns the milliseconds from `now` until the reset that a header names; null: the text is not understood. */
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
  return durationMs(text);
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
function durationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|us|µs|ns|[dhms]))+$/.test(text)) return null;
  let ms = 0;
  for (const [, number, , unit = ''] of text.matchAll(/(\d+(\.\d+)?)(ms|us|µs|ns|[dhms])/g)) {
    ms += Number(number) * (UNIT_MS[unit] ?? 0);
  }
  return ms;
}
