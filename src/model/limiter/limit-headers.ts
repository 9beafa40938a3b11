import { clampMs } from './concurrency-window.ts';

/** The part of the headers of a response that the limiter reads. */
export interface ResponseHeaders {
  get(name: string): string | null;
}

/** A limit of a provider that is used up. */
export interface ExhaustedLimit {
  readonly unit: 'requests' | 'tokens';
  /** Milliseconds until it is reset, more than 0. */
  readonly ms: number;
}

/**
 * The longest wait for a reset. Many providers name the time at which the full limit is available again, and
 * a part of it is available sooner. A provider that still refuses says so again.
 */
export const LONGEST_HOLD_MS = 60_000;

interface HeaderPair {
  readonly what: ExhaustedLimit['unit'];
  readonly remaining: string;
  readonly reset: string;
}

/**
 * The headers that the vendors document. Anthropic sends resets as dates (RFC 3339), OpenAI as durations such
 * as `6m0s`; servers that imitate OpenAI also send seconds.
 */
const PAIRS: readonly HeaderPair[] = [
  ...(['requests', 'tokens'] as const).map((what) => ({
    what,
    remaining: `x-ratelimit-remaining-${what}`,
    reset: `x-ratelimit-reset-${what}`,
  })),
  ...(['requests', 'tokens', 'input-tokens', 'output-tokens'] as const).map((name) => ({
    what: name === 'requests' ? name : ('tokens' as const),
    remaining: `anthropic-ratelimit-${name}-remaining`,
    reset: `anthropic-ratelimit-${name}-reset`,
  })),
];

/**
 * Finds the limit that is used up for the longest time. Returns null if no limit with a reset time is used up.
 * `now`: milliseconds since the epoch.
 */
export function findExhaustedLimit(headers: ResponseHeaders, now: number): ExhaustedLimit | null {
  let longest: ExhaustedLimit | null = null;
  for (const { what, remaining, reset } of PAIRS) {
    // Servers without a limit of a kind send -1.
    if (headers.get(remaining)?.trim() !== '0') continue;
    const ms = clampMs(parseResetMs(headers.get(reset)?.trim() ?? '', now) ?? 0, LONGEST_HOLD_MS);
    if (ms > (longest?.ms ?? 0)) longest = { unit: what, ms };
  }
  return longest;
}

/** The numbers from which on a value is a time since the epoch and not a duration. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;
/** The most characters of a reset that are parsed. All known ones are shorter. */
const LONGEST_VALUE = 64;

/** Returns the milliseconds from `now` until the reset that a header names; null: the text is not understood. */
export function parseResetMs(text: string, now: number): number | null {
  if (text === '' || text.length > LONGEST_VALUE) return null;
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number >= EPOCH_MS) return number - now;
    return number >= EPOCH_SECONDS ? number * 1000 - now : number * 1000;
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
