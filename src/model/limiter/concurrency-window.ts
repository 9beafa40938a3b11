/**
 * The number of requests that a provider accepts at a time, learned from its refusals. All times are
 * milliseconds of a monotonic clock.
 */
export interface ConcurrencyWindow {
  /** The configured maximum. */
  readonly max: number;
  /** Number of slots that the provider is known to accept. */
  readonly size: number;
  /** No request is sent before this time. */
  readonly pausedUntil: number;
  /** Number of refusals since a request was accepted. */
  readonly refusals: number;
  /** Grows with each refusal that counts: requests sent in an earlier era do not delay the next probe again. */
  readonly era: number;
  /** The earliest time of the next probe, which tries more slots. */
  readonly probeAt: number;
  /** Milliseconds between a refusal and the next probe. */
  readonly patienceMs: number;
  /** Number of slots that the next probe adds. */
  readonly step: number;
  /** Number of successful probes in a row. */
  readonly wins: number;
  /** Number of slots during a probe; null: there is no probe now. */
  readonly probing: number | null;
}

/**
 * The wait before the first probe after a refusal. It doubles with each probe that fails. Example: three slots
 * with turns of 2 s make 1.5 requests a second. With probes 8 s, 24 s, 56 s, … after the first refusals, fewer
 * than one request in twenty is refused from 10 s on.
 */
export const FIRST_PATIENCE_MS = 8_000;
const MAX_PATIENCE_MS = 120_000;
/** The wait between successful probes, so that a refusal that is on its way can arrive. */
const NEXT_PROBE_MS = 1_000;
/** After this many successful probes the limit is believed to be gone: one success may be chance. */
const TRUSTED_WINS = 2;
/** The longest pause that a server can ask for. After it, one request tries again. */
export const MAX_PAUSE_MS = 600_000;
/** The wait after a first refusal without a stated time. It doubles with each further refusal. */
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** Creates the window of a provider that has refused nothing yet. */
export function openWindow(max: number): ConcurrencyWindow {
  return {
    max,
    size: max,
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

/** Returns the number of slots that may be in use at `now`. */
export function countAvailableSlots(
  { pausedUntil, probing, size }: ConcurrencyWindow,
  now: number,
): number {
  return now < pausedUntil ? 0 : (probing ?? size);
}

/** Returns true if the provider accepts fewer requests at a time than the configuration allows. */
export function isLowered({ size, max }: ConcurrencyWindow): boolean {
  return size < max;
}

/** A refusal of one request. */
export interface RateRefusal {
  /** The era in which the request was sent. */
  readonly era: number;
  /** Number of other requests in flight when it was refused. */
  readonly othersInFlight: number;
  /** The wait that the server asks for; null: none. */
  readonly retryAfterMs: number | null;
  readonly now: number;
  /** A random number in [0, 1). */
  readonly random: number;
}

/**
 * Lowers the window after a 429 or "overloaded". The new size is the number of other requests in flight, which
 * the provider has accepted; if some of these are refused in the next moment, the size falls further.
 */
export function recordRefusal(window: ConcurrencyWindow, refusal: RateRefusal): ConcurrencyWindow {
  const { era, othersInFlight, now } = refusal;
  const size = Math.max(1, Math.min(window.size, othersInFlight));
  const pausedUntil = Math.max(window.pausedUntil, now + computeWaitMs(window.refusals, refusal));
  const lowered = { ...window, size, pausedUntil, probing: null };
  // One of several requests that were sent together: the first refusal was counted already.
  if (era < window.era) return { ...lowered, probeAt: probeTime(lowered, now) };
  const patienceMs = isLowered(window)
    ? Math.min(window.patienceMs * 2, MAX_PATIENCE_MS)
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
 * Computes how long a refused request waits. If the server states a time, a random tenth of it and a random
 * quarter of a second are added, so that requests that were refused together do not return together. From the
 * second refusal in a row on, the wait is at least the backoff that is used without a stated time.
 */
export function computeWaitMs(
  refusals: number,
  { retryAfterMs, random }: Pick<RateRefusal, 'retryAfterMs' | 'random'>,
): number {
  const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** refusals, MAX_BACKOFF_MS);
  const minimum = backoff * (0.5 + random / 2);
  if (retryAfterMs === null) return minimum;
  const requested = clampMs(retryAfterMs, MAX_PAUSE_MS) * (1 + random / 10) + random * 250;
  return refusals === 0 ? requested : Math.max(requested, minimum);
}

/** Limits a number of milliseconds that a server has sent to [0, `max`]. NaN counts as 0. */
export function clampMs(ms: number, max: number): number {
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), max);
}

/** The acceptance of one request: the first byte of its answer has come. */
export interface RateAcceptance {
  readonly era: number;
  /** Number of requests in flight when it was sent, itself included. */
  readonly level: number;
  /** Number of requests in flight now, itself included: more are not known to be accepted at a time. */
  readonly inFlight: number;
  readonly now: number;
}

/** Ends a row of refusals, and widens the window if a probe was successful. */
export function recordAcceptance(
  window: ConcurrencyWindow,
  { era, level, inFlight, now }: RateAcceptance,
): ConcurrencyWindow {
  if (window.refusals === 0 && window.probing === null) return window;
  const next = window.refusals === 0 ? window : { ...window, refusals: 0 };
  const { probing } = next;
  if (probing === null || era < next.era || Math.min(level, inFlight) < probing) return next;
  if (probing === next.max) return { ...openWindow(next.max), era: next.era + 1 };
  const wins = next.wins + 1;
  return {
    ...next,
    size: probing,
    probing: null,
    wins,
    step: next.step * 2,
    patienceMs: wins < TRUSTED_WINS ? next.patienceMs : FIRST_PATIENCE_MS,
    probeAt: now + NEXT_PROBE_MS,
  };
}

/** Starts a probe if one is due. To be called only while a request waits for a slot. */
export function startProbe(window: ConcurrencyWindow, now: number): ConcurrencyWindow {
  const { probing, probeAt, size, max, step, pausedUntil } = window;
  if (probing !== null || size >= max || now < probeAt || now < pausedUntil) return window;
  return { ...window, probing: Math.min(size + step, max) };
}

/** Pauses the window because the server says that a limit is used up until then. */
export function pauseWindow(window: ConcurrencyWindow, until: number): ConcurrencyWindow {
  return until <= window.pausedUntil ? window : { ...window, pausedUntil: until };
}

/** Adapts the window to a new configured maximum. */
export function resizeWindow(window: ConcurrencyWindow, max: number): ConcurrencyWindow {
  if (max === window.max) return window;
  const { era, pausedUntil } = window;
  if (!isLowered(window) || window.size >= max) return { ...openWindow(max), era, pausedUntil };
  return { ...window, max };
}
