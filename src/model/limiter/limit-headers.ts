import { clampMs } from './concurrency-window.ts';

/** Of a response, as far as it is needed. */
export interface ResponseHeaders {
  get(name: string): string | null;
}

/** What a provider has none left of, and for how long. */
export interface ExhaustedLimit {
  readonly what: 'requests' | 'tokens';
  /** Milliseconds from now, more than 0. */
  readonly ms: number;
}

/**
 * Many of these resets name the time at which everything is back, and some is back sooner: it is not
 * waited for longer than this, and a provider that means it says so again.
 */
export const LONGEST_HOLD_MS = 60_000;

interface HeaderPair {
  readonly what: ExhaustedLimit['what'];
  readonly remaining: string;
  readonly reset: string;
}

/**
 * As the vendors document them: Anthropic's resets are dates (RFC 3339), OpenAI's durations such as
 * `6m0s`; those that imitate OpenAI also send seconds.
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

/** What is used up, for the longest of all; null: nothing that names its reset. `now`: since the epoch. */
export function findExhaustedLimit(headers: ResponseHeaders, now: number): ExhaustedLimit | null {
  let longest: ExhaustedLimit | null = null;
  for (const { what, remaining, reset } of PAIRS) {
    // Servers without a limit of a kind send -1.
    if (headers.get(remaining)?.trim() !== '0') continue;
    const ms = clampMs(parseResetMs(headers.get(reset)?.trim() ?? '', now) ?? 0, LONGEST_HOLD_MS);
    if (ms > (longest?.ms ?? 0)) longest = { what, ms };
  }
  return longest;
}

/** Seconds from here on are a moment since the epoch, and no time to wait. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;
/** More than any of these values has: what is longer is not looked at closely. */
const LONGEST_VALUE = 64;

/** Milliseconds until then, as the text says; null: it says nothing. */
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

/** `1h2m3.5s`, `120ms`. */
function durationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|us|µs|ns|[dhms]))+$/.test(text)) return null;
  let ms = 0;
  for (const [, number, , unit = ''] of text.matchAll(/(\d+(\.\d+)?)(ms|us|µs|ns|[dhms])/g)) {
    ms += Number(number) * (UNIT_MS[unit] ?? 0);
  }
  return ms;
}
