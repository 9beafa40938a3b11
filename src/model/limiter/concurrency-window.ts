/**
 * How many requests at a time a provider takes, as far as its refusals have told. Milliseconds are of a
 * monotonic clock.
 */
export interface ConcurrencyWindow {
  /** As configured: never more. */
  readonly most: number;
  /** Lanes that are known to be taken. */
  readonly size: number;
  /** Nothing is sent before. */
  readonly pausedUntil: number;
  /** In a row, since a request was accepted. */
  readonly refusals: number;
  /** Grows with each lesson: what was sent before teaches nothing new about when to try for more. */
  readonly era: number;
  /** From when more lanes may be tried. */
  readonly probeAt: number;
  /** How long it waits after a refusal before it tries for more. */
  readonly patienceMs: number;
  /** How many lanes the next try adds. */
  readonly step: number;
  /** Tries that went well, one after another. */
  readonly wins: number;
  /** Lanes that are being tried; null: none are. */
  readonly probing: number | null;
}

/**
 * After a refusal: one try for one lane more in that time, twice as long after each that fails. Three
 * lanes with turns of 2 s take 1.5 requests a second: of those, 8 s, 24 s, 56 s, … after the first
 * refusals, fewer than one in twenty is refused from 10 s on.
 */
export const FIRST_PATIENCE_MS = 8_000;
const MOST_PATIENCE_MS = 120_000;
/** Between tries that go well, for a refusal that is under way to come. */
const NEXT_PROBE_MS = 1_000;
/** From here on it is known that the limit has gone, and not only that one request slipped through. */
const TRUSTED_WINS = 2;
/** A server that asks for more is asked again then, by one request. */
export const LONGEST_PAUSE_MS = 600_000;
/** Where the server names no time: so long after the first refusal in a row, then twice as long each. */
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

export function openWindow(most: number): ConcurrencyWindow {
  return {
    most,
    size: most,
    pausedUntil: 0,
    refusals: 0,
    era: 0,
    probeAt: Infinity,
    patienceMs: FIRST_PATIENCE_MS,
    step: 1,
    wins: 0,
    probing: null,
  };
}

/** Lanes that may be in use at `now`. */
export function countAvailableLanes(
  { pausedUntil, probing, size }: ConcurrencyWindow,
  now: number,
): number {
  return now < pausedUntil ? 0 : (probing ?? size);
}

/** Whether the provider takes fewer than the configuration would send. */
export function isWindowLowered({ size, most }: ConcurrencyWindow): boolean {
  return size < most;
}

export interface RateRefusal {
  /** The era in which it was sent. */
  readonly era: number;
  /** Others in flight when it was refused. */
  readonly beside: number;
  /** What the server asks for; null: nothing. */
  readonly retryAfterMs: number | null;
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

/**
 * A 429, or "overloaded". What is in flight beside it is what the provider took; some of that may be
 * refused in the next moment, and lowers it further.
 */
export function recordRefusal(window: ConcurrencyWindow, refusal: RateRefusal): ConcurrencyWindow {
  const { era, beside, now } = refusal;
  const size = Math.max(1, Math.min(window.size, beside));
  const pausedUntil = Math.max(window.pausedUntil, now + computeWaitMs(window.refusals, refusal));
  const lowered = { ...window, size, pausedUntil, probing: null };
  // One of several that were sent together: the first of them has told already.
  if (era < window.era) return { ...lowered, probeAt: probeTime(lowered, now) };
  const patienceMs = isWindowLowered(window)
    ? Math.min(window.patienceMs * 2, MOST_PATIENCE_MS)
    : FIRST_PATIENCE_MS;
  const next = { ...lowered, patienceMs };
  return {
    ...next,
    era: window.era + 1,
    refusals: window.refusals + 1,
    step: 1,
    wins: 0,
    probeAt: probeTime(next, now),
  };
}

function probeTime({ pausedUntil, patienceMs }: ConcurrencyWindow, now: number): number {
  return Math.max(pausedUntil, now) + patienceMs;
}

/**
 * For how long a refused request waits: up to a tenth and a quarter of a second more than it is asked
 * to, by chance, so that those that were refused together don't come back together. From the second
 * refusal in a row on no less than where the server names no time.
 */
export function computeWaitMs(
  refusals: number,
  { retryAfterMs, random }: Pick<RateRefusal, 'retryAfterMs' | 'random'>,
): number {
  const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** refusals, LONGEST_BACKOFF_MS);
  const least = backoff * (0.5 + random / 2);
  if (retryAfterMs === null) return least;
  const asked = clampMs(retryAfterMs, LONGEST_PAUSE_MS) * (1 + random / 10) + random * 250;
  return refusals === 0 ? asked : Math.max(asked, least);
}

/** A server's number of milliseconds, which may be any; NaN counts as none. */
export function clampMs(ms: number, most: number): number {
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), most);
}

export interface RateAcceptance {
  readonly era: number;
  /** In flight when it was sent, itself counted. */
  readonly level: number;
  /** In flight now, itself counted: no more than that are known to have been taken together. */
  readonly inFlight: number;
  readonly now: number;
}

/** The first byte of an answer. */
export function recordAcceptance(
  window: ConcurrencyWindow,
  { era, level, inFlight, now }: RateAcceptance,
): ConcurrencyWindow {
  if (window.refusals === 0 && window.probing === null) return window;
  const calm = window.refusals === 0 ? window : { ...window, refusals: 0 };
  const { probing } = calm;
  if (probing === null || era < calm.era || Math.min(level, inFlight) < probing) return calm;
  if (probing === calm.most) return { ...openWindow(calm.most), era: calm.era + 1 };
  const wins = calm.wins + 1;
  return {
    ...calm,
    size: probing,
    probing: null,
    wins,
    step: calm.step * 2,
    patienceMs: wins < TRUSTED_WINS ? calm.patienceMs : FIRST_PATIENCE_MS,
    probeAt: now + NEXT_PROBE_MS,
  };
}

/** Begins to try for more when it is time to; somebody must wait for a lane. */
export function startProbe(window: ConcurrencyWindow, now: number): ConcurrencyWindow {
  const { probing, probeAt, size, most, step, pausedUntil } = window;
  if (probing !== null || size >= most || now < probeAt || now < pausedUntil) return window;
  return { ...window, probing: Math.min(size + step, most) };
}

/** The server says that nothing is left until then; those in flight are none of it. */
export function pauseWindow(window: ConcurrencyWindow, until: number): ConcurrencyWindow {
  return until <= window.pausedUntil ? window : { ...window, pausedUntil: until };
}

/** The configuration says something else from now on. */
export function resizeWindow(window: ConcurrencyWindow, most: number): ConcurrencyWindow {
  if (most === window.most) return window;
  const { era, pausedUntil } = window;
  if (!isWindowLowered(window) || window.size >= most)
    return { ...openWindow(most), era, pausedUntil };
  return { ...window, most };
}
