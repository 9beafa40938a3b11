/**
 * The number of requests that a provider accepts at a time, learned from its refusals. All times are
 * milliseconds of a monotonic clock.
 */
export interface ConcurrencyWindow {
  /** The configured maximum. */
  readonly max: number;
  /** The number of slots: the number of requests at a time that the provider is known to accept. */
  readonly size: number;
  /** No request is sent before this time. */
  readonly pausedUntil: number;
  /** The number of refusals since the last acceptance of a request. */
  readonly refusals: number;
  /**
   * The number of the current era. A refusal of a request that was sent in this era begins the next era; a refusal of an
   * older request does not. So requests that were sent and refused together increase the probe delay only once. A new era
   * also begins when a probe finds that the provider accepts the configured maximum again.
   */
  readonly era: number;
  /** The earliest time of the next probe, which tests whether the provider accepts more requests at a time. */
  readonly probeAt: number;
  /** The milliseconds between a refusal and the next probe. */
  readonly probeDelayMs: number;
  /** The number of slots that the next probe adds. */
  readonly probeStep: number;
  /** The number of successful probes in a row. */
  readonly successfulProbes: number;
  /** The number of slots during a probe; null: there is no probe now. */
  readonly probeSize: number | null;
}

/**
 * The wait before the first probe after a refusal. The wait doubles with each probe that fails. Example: three slots
 * with answers of 2 s serve 1.5 requests a second. If every probe fails, the probes come 8 s, 24 s, 56 s, … after the
 * first refusal and cost one refusal each: from 10 s on, fewer than one request in twenty.
 */
export const FIRST_PROBE_DELAY_MS = 8_000;
const MAX_PROBE_DELAY_MS = 120_000;
/** The wait after a successful probe, in which a refusal of another request can still arrive. */
const NEXT_PROBE_DELAY_MS = 1_000;
/** After this many successful probes, the probe delay is reset, because a single success may be chance. */
const MIN_SUCCESSFUL_PROBES = 2;
/** The maximum pause that a server can ask for. After the pause, requests are sent again. */
export const MAX_PAUSE_MS = 600_000;
/** The wait after a first refusal that states no time. The wait doubles with each further refusal. */
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
    probeDelayMs: FIRST_PROBE_DELAY_MS,
    probeStep: 1,
    successfulProbes: 0,
    probeSize: null,
  };
}

/** Returns the number of slots that may be in use at `now`. */
export function countAvailableSlots(
  { pausedUntil, probeSize, size }: ConcurrencyWindow,
  now: number,
): number {
  return now < pausedUntil ? 0 : (probeSize ?? size);
}

/** Returns true if the provider accepts fewer requests at a time than the configuration allows. */
export function isLowered({ size, max }: ConcurrencyWindow): boolean {
  return size < max;
}

/** A refusal of one request. */
export interface RateRefusal {
  /** The era in which the request was sent. */
  readonly era: number;
  /** The number of other requests in flight when the refusal arrived. */
  readonly othersInFlight: number;
  /** The wait that the server asks for; null: it states no time. */
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
  const lowered = { ...window, size, pausedUntil, probeSize: null };
  // The request was sent before the last refusal that counts, so the probe delay is not increased again.
  if (era < window.era) return { ...lowered, probeAt: computeProbeTime(lowered, now) };
  const probeDelayMs = isLowered(window)
    ? Math.min(window.probeDelayMs * 2, MAX_PROBE_DELAY_MS)
    : FIRST_PROBE_DELAY_MS;
  const next = { ...lowered, probeDelayMs };
  return {
    ...next,
    era: window.era + 1,
    refusals: window.refusals + 1,
    probeStep: 1,
    successfulProbes: 0,
    probeAt: computeProbeTime(next, now),
  };
}

function computeProbeTime({ pausedUntil, probeDelayMs }: ConcurrencyWindow, now: number): number {
  return Math.max(pausedUntil, now) + probeDelayMs;
}

/**
 * Computes how long a refused request waits. If the server states a time, a random time of up to a tenth of
 * it plus a quarter of a second is added, so that requests that were refused together are not sent again together. From
 * the second refusal in a row on, the wait is at least the backoff for refusals that state no time.
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

/** The acceptance of one request: the first byte of its answer has arrived. */
export interface RateAcceptance {
  readonly era: number;
  /** The number of requests in flight when the request was sent, including itself. */
  readonly inFlightAtSend: number;
  /** The number of requests in flight now, including itself. It is proved that the provider accepts this many at a
   * time, even if more were in flight when the request was sent. */
  readonly inFlight: number;
  readonly now: number;
}

/** Resets the number of refusals, and widens the window if the acceptance shows that a probe was successful. */
export function recordAcceptance(
  window: ConcurrencyWindow,
  { era, inFlightAtSend, inFlight, now }: RateAcceptance,
): ConcurrencyWindow {
  if (window.refusals === 0 && window.probeSize === null) return window;
  const next = window.refusals === 0 ? window : { ...window, refusals: 0 };
  const { probeSize } = next;
  if (probeSize === null || era < next.era || Math.min(inFlightAtSend, inFlight) < probeSize)
    return next;
  if (probeSize === next.max) return { ...openWindow(next.max), era: next.era + 1 };
  const successfulProbes = next.successfulProbes + 1;
  return {
    ...next,
    size: probeSize,
    probeSize: null,
    successfulProbes,
    probeStep: next.probeStep * 2,
    probeDelayMs:
      successfulProbes < MIN_SUCCESSFUL_PROBES ? next.probeDelayMs : FIRST_PROBE_DELAY_MS,
    probeAt: now + NEXT_PROBE_DELAY_MS,
  };
}

/** Starts a probe if its time has come. Call it only while a request waits for a slot. */
export function startProbe(window: ConcurrencyWindow, now: number): ConcurrencyWindow {
  const { probeSize, probeAt, size, max, probeStep, pausedUntil } = window;
  if (probeSize !== null || size >= max || now < probeAt || now < pausedUntil) return window;
  return { ...window, probeSize: Math.min(size + probeStep, max) };
}

/** Pauses the window until a time, because the server reports a limit that is exhausted until then. */
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
