import * as windows from './concurrency-window.ts';
import type { Clock } from '../../base/clock.ts';
import type { ModelFailure } from '../../protocol/model.ts';
import { type ResponseHeaders, findExhaustedLimit } from './limit-headers.ts';
import type { Permit } from './permit.ts';
import type { RequestRecord, Hold } from './waiting-request.ts';

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

/** The slots for requests that are in use. */
export interface SlotUse {
  /** Number of requests that were sent and have not ended. */
  readonly inFlight: number;
  /** Number of slots that are reserved for requests about to be sent. */
  readonly reserved: number;
}

/**
 * Decides how many requests may be sent to a provider now, from the configured limits and from what the
 * provider's responses say.
 */
export class Allowance {
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly perMinute: RequestsPerMinute;
  private readonly peaks = new ServedPeaks();
  private window: windows.ConcurrencyWindow;
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

  get era(): number {
    return this.window.era;
  }

  hasRoom({ inFlight, reserved }: SlotUse, now: number): boolean {
    if (inFlight + reserved >= windows.countAvailableSlots(this.window, now)) return false;
    return this.perMinute.freeAt(now, { reserved }) <= now;
  }

  /** Returns true if one more request would be a probe, which finds out whether the provider accepts more at a time. */
  wouldProbe({ inFlight, reserved }: SlotUse): boolean {
    return inFlight + reserved >= this.window.size;
  }

  recordSent(now: number): void {
    this.perMinute.add(now);
  }

  /** Starts a probe if one is due. To be called when a request waits. */
  startProbeIfDue(now: number): void {
    this.window = windows.startProbe(this.window, now);
  }

  /** Records that a request was accepted. Returns whether more or fewer requests may be sent because of it. */
  recordAcceptance({ level, era }: Permit, inFlight: number): boolean {
    const { window } = this;
    // No request was ever refused, so there is nothing to learn.
    if (window.era === 0) return false;
    const now = this.clock.monotonic();
    this.peaks.add(now, Math.min(level, inFlight));
    this.window = windows.recordAcceptance(window, { era, level, inFlight, now });
    return this.window !== window;
  }

  /** Pauses all requests while the headers of a response say that a limit is used up. Returns whether they do. */
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

  /** Records a refusal. `othersInFlight`: the number of other requests in flight at that moment. */
  recordRefusal(
    { request, level, era }: Permit,
    failure: ModelFailure,
    { record, othersInFlight }: { readonly record: RequestRecord; readonly othersInFlight: number },
  ): void {
    const now = this.clock.monotonic();
    const isSpecific = isRefusalSpecific(record, { served: this.peaks, level });
    const retryAfterMs = failure.retryAfterMs ?? null;
    // An overloaded server is a failed attempt: the retry loop of the request waits for it, not the limiter.
    if (failure.kind === 'rate_limit') {
      const terms = { retryAfterMs, random: this.random() };
      record.notBefore = now + windows.computeWaitMs(record.refusals, terms);
    }
    record.refusals += 1;
    record.refusedAt = now;
    if (isSpecific) return;
    const refusal = { era, othersInFlight, retryAfterMs, now, random: this.random() };
    this.window = windows.recordRefusal(this.window, refusal);
    this.pausedBy = reasonOf(request.model.provider, failure);
  }

  /**
   * Says why a request to `provider` waits. Returns null if no rate limit holds it back, but only the
   * configured number of requests in flight.
   */
  explainHold(provider: string, { reserved }: SlotUse, now: number): Hold | null {
    const epoch = this.clock.now() - now;
    const { pausedUntil, size } = this.window;
    if (pausedUntil > now)
      return { because: this.pausedBy, untilMs: Math.ceil(epoch + pausedUntil) };
    const freeAt = this.perMinute.freeAt(now, { reserved });
    if (freeAt > now) {
      const because = `requests_per_minute = ${this.perMinute.max} of ${provider}`;
      return { because, untilMs: Math.ceil(epoch + freeAt) };
    }
    const isLowered = windows.isLowered(this.window);
    // While slots are reserved, a waiting request is told so: its owner must not block those who hold a slot.
    if (!isLowered && reserved === 0) return null;
    const taken = isLowered ? `, which takes ${size} at a time` : '';
    return { because: `the rate limit of ${provider}${taken}`, untilMs: null };
  }

  /** Returns the time at which more may be sent without any further response; infinite: there is none. */
  nextChange({ reserved }: SlotUse, now: number): number {
    const { pausedUntil, probing, probeAt } = this.window;
    if (pausedUntil > now) return pausedUntil;
    const freeAt = this.perMinute.freeAt(now, { reserved });
    if (freeAt > now) return freeAt;
    return probing === null && probeAt > now ? probeAt : Infinity;
  }
}

function reasonOf(provider: string, { kind, status }: ModelFailure): string {
  const answer = status === undefined ? '' : ` (HTTP ${status})`;
  return kind === 'overloaded'
    ? `${provider}, which is overloaded${answer}`
    : `the rate limit of ${provider}${answer}`;
}

const MINUTE_MS = 60_000;

/**
 * The times at which the requests of the last minute were sent, in monotonic milliseconds, so that no minute
 * has more than `max`. If `max` is 0, there is no limit and nothing is remembered.
 */
class RequestsPerMinute {
  max: number;
  private sent: number[] = [];
  /** The index in `sent` of the first request of the last minute. */
  private first = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Returns the time at which a request may be sent in addition to the reserved ones; `now` means at once. */
  freeAt(now: number, { reserved }: { readonly reserved: number }): number {
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
 * The maximum number of requests that the provider has served at the same time, by the time at which that was
 * observed.
 */
class ServedPeaks {
  /** Sorted by time, with falling counts: a later peak removes the smaller ones before it. */
  private readonly peaks: { readonly at: number; readonly count: number }[] = [];

  /** Adds an observation. `at` is never smaller than in the call before. */
  add(at: number, count: number): void {
    while ((this.peaks.at(-1)?.count ?? Infinity) <= count) this.peaks.pop();
    this.peaks.push({ at, count });
  }

  peakSince(at: number): number {
    return this.peaks.find((one) => one.at >= at)?.count ?? 0;
  }
}

/**
 * Returns true if a refusal concerns only this request: as many other requests were served at a time since it was
 * refused before. Such a request waits alone, and the others go on.
 */
function isRefusalSpecific(
  { refusals, refusedAt }: RequestRecord,
  { served, level }: { readonly served: ServedPeaks; readonly level: number },
): boolean {
  return refusals > 0 && served.peakSince(refusedAt) >= level;
}
