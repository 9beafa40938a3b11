import * as windows from './concurrency-window.ts';
import type { Clock } from '../../base/clock.ts';
import type { ModelFailure } from '../../protocol/model.ts';
import { type ResponseHeaders, findExhaustedLimit } from './limit-headers.ts';
import type { Permit } from './permit.ts';
import type { RequestHistory, Hold } from './waiting-request.ts';

/** The configured limits on the requests to one provider account. */
export interface LimiterSettings {
  /** The maximum number of requests in flight at a time, at least 1. */
  readonly maxConcurrent: number;
  /** The maximum number of requests in any minute. 0: no limit. */
  readonly requestsPerMinute: number;
}

export interface AllowanceDeps {
  readonly clock: Clock;
  /** Returns a number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
}

/** The numbers of slots in use. Each request in flight needs a slot. */
export interface SlotUse {
  /** The number of requests that were sent and have not ended. */
  readonly inFlight: number;
  /** The number of slots that are reserved for requests that will be sent soon. */
  readonly reserved: number;
}

/**
 * Decides how many requests may be sent to a provider now. The decision depends on the configured limits, and on the
 * refusals and headers in the responses of the provider.
 */
export class Allowance {
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly perMinute: RequestsPerMinute;
  private readonly peaks = new ServedPeaks();
  private window: windows.ConcurrencyWindow;
  /** The reason of the last pause, as a noun phrase for messages. */
  private pausedBy = '';

  constructor(settings: LimiterSettings, { clock, random = Math.random }: AllowanceDeps) {
    this.clock = clock;
    this.random = random;
    this.window = windows.openWindow(settings.maxConcurrent);
    this.perMinute = new RequestsPerMinute(settings.requestsPerMinute);
  }

  configure({ maxConcurrent, requestsPerMinute }: LimiterSettings): void {
    this.window = windows.resizeWindow(this.window, maxConcurrent);
    this.perMinute.max = requestsPerMinute;
  }

  /** The current era of the window (`ConcurrencyWindow.era`). */
  get era(): number {
    return this.window.era;
  }

  /** Returns true if one more request may be sent now. */
  hasRoom({ inFlight, reserved }: SlotUse, now: number): boolean {
    if (inFlight + reserved >= windows.countAvailableSlots(this.window, now)) return false;
    return this.perMinute.nextSendTime(now, { reserved }) <= now;
  }

  /** Returns true if the next request would be a probe, which tests whether the provider accepts more requests at a time. */
  isNextRequestProbe({ inFlight, reserved }: SlotUse): boolean {
    return inFlight + reserved >= this.window.size;
  }

  recordSent(now: number): void {
    this.perMinute.add(now);
  }

  /** Starts a probe if its time has come. Call it only when a request waits. */
  startProbeIfDue(now: number): void {
    this.window = windows.startProbe(this.window, now);
  }

  /** Records that a request was accepted. Returns true if this changes the number of requests that may be sent. */
  recordAcceptance({ inFlightAtSend, era }: Permit, inFlight: number): boolean {
    const { window } = this;
    // No request was ever refused, so there is nothing to learn.
    if (window.era === 0) return false;
    const now = this.clock.monotonic();
    this.peaks.add(now, Math.min(inFlightAtSend, inFlight));
    this.window = windows.recordAcceptance(window, { era, inFlightAtSend, inFlight, now });
    return this.window !== window;
  }

  /** Pauses all requests if the headers of a response report an exhausted limit. Returns true if the pause became longer. */
  readHeaders({ request }: Permit, headers: ResponseHeaders): boolean {
    const limit = findExhaustedLimit(headers, this.clock.now());
    if (limit === null) return false;
    const until = this.clock.monotonic() + limit.resetInMs * (1 + this.random() / 10);
    const window = windows.pauseWindow(this.window, until);
    if (window === this.window) return false;
    this.window = window;
    this.pausedBy = `the rate limit of ${request.model.provider}: no ${limit.unit} are left`;
    return true;
  }

  /** Records a refusal. `othersInFlight`: the number of other requests in flight when the refusal arrived. */
  recordRefusal(
    { request, inFlightAtSend, era }: Permit,
    failure: ModelFailure,
    {
      history,
      othersInFlight,
    }: { readonly history: RequestHistory; readonly othersInFlight: number },
  ): void {
    const now = this.clock.monotonic();
    const isSpecific = isRefusalSpecific(history, { peaks: this.peaks, inFlightAtSend });
    const retryAfterMs = failure.retryAfterMs ?? null;
    // After `overloaded`, the retry loop waits before it sends the request again, so the limiter sets no wait.
    if (failure.kind === 'rate_limit') {
      const options = { retryAfterMs, random: this.random() };
      history.notBefore = now + windows.computeWaitMs(history.refusals, options);
    }
    history.refusals += 1;
    history.refusedAt = now;
    if (isSpecific) return;
    const refusal = { era, othersInFlight, retryAfterMs, now, random: this.random() };
    this.window = windows.recordRefusal(this.window, refusal);
    this.pausedBy = describePause(request.model.provider, failure);
  }

  /**
   * Explains why a request to `provider` waits. Returns null if the request waits only for the configured maximum of
   * requests in flight, and not for a rate limit.
   */
  explainHold(provider: string, { reserved }: SlotUse, now: number): Hold | null {
    const epochOffset = this.clock.now() - now;
    const { pausedUntil, size } = this.window;
    if (pausedUntil > now)
      return { because: this.pausedBy, untilMs: Math.ceil(epochOffset + pausedUntil) };
    const nextSendTime = this.perMinute.nextSendTime(now, { reserved });
    if (nextSendTime > now) {
      const because = `requests_per_minute = ${this.perMinute.max} of ${provider}`;
      return { because, untilMs: Math.ceil(epochOffset + nextSendTime) };
    }
    const isLowered = windows.isLowered(this.window);
    // While slots are reserved, the caller is informed as well, so that it does not block the callers that hold slots.
    if (!isLowered && reserved === 0) return null;
    const accepted = isLowered ? `, which takes ${size} at a time` : '';
    return { because: `the rate limit of ${provider}${accepted}`, untilMs: null };
  }

  /** Returns the time at which more requests may be sent without another response; infinite: only a response changes that. */
  nextChangeTime({ reserved }: SlotUse, now: number): number {
    const { pausedUntil, probeSize, probeAt } = this.window;
    if (pausedUntil > now) return pausedUntil;
    const nextSendTime = this.perMinute.nextSendTime(now, { reserved });
    if (nextSendTime > now) return nextSendTime;
    return probeSize === null && probeAt > now ? probeAt : Infinity;
  }
}

function describePause(provider: string, { kind, status }: ModelFailure): string {
  const statusText = status === undefined ? '' : ` (HTTP ${status})`;
  return kind === 'overloaded'
    ? `${provider}, which is overloaded${statusText}`
    : `the rate limit of ${provider}${statusText}`;
}

const MINUTE_MS = 60_000;

/**
 * Limits the number of requests in any minute to `max`. It remembers the times at which the requests of the last
 * minute were sent, in monotonic milliseconds. If `max` is 0, there is no limit and no time is remembered.
 */
class RequestsPerMinute {
  max: number;
  private sent: number[] = [];
  /** The index in `sent` of the first request of the last minute. */
  private first = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Returns the earliest time at which a request may be sent in addition to the reserved slots: `now` or later. */
  nextSendTime(now: number, { reserved }: { readonly reserved: number }): number {
    if (this.max === 0) return now;
    this.dropOld(now);
    const before = this.sent.length + reserved - this.max;
    if (before < 0) return now;
    return (this.sent[before] ?? now) + MINUTE_MS;
  }

  add(now: number): void {
    if (this.max > 0) this.sent.push(now);
  }

  private dropOld(now: number): void {
    while ((this.sent[this.first] ?? now) <= now - MINUTE_MS) this.first += 1;
    if (this.first < 1_000 && this.first < this.sent.length) return;
    this.sent = this.sent.slice(this.first);
    this.first = 0;
  }
}

/**
 * Remembers how many requests the provider has served at the same time, so that the maximum since any time can be
 * found.
 */
class ServedPeaks {
  /** Sorted by time, with falling counts: a later peak removes the earlier peaks that are not larger. */
  private readonly peaks: { readonly at: number; readonly count: number }[] = [];

  /** Adds an observation. `at`: its time, which must not be before the time of the previous observation. */
  add(at: number, count: number): void {
    while ((this.peaks.at(-1)?.count ?? Infinity) <= count) this.peaks.pop();
    this.peaks.push({ at, count });
  }

  peakSince(at: number): number {
    return this.peaks.find((peak) => peak.at >= at)?.count ?? 0;
  }
}

/**
 * Returns true if a refusal concerns only this request: since its previous refusal, the provider has served as many
 * requests at the same time as were in flight now. Only this request then waits, and the window stays as it is.
 */
function isRefusalSpecific(
  { refusals, refusedAt }: RequestHistory,
  { peaks, inFlightAtSend }: { readonly peaks: ServedPeaks; readonly inFlightAtSend: number },
): boolean {
  return refusals > 0 && peaks.peakSince(refusedAt) >= inFlightAtSend;
}
