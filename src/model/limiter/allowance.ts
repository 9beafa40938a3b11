import type { Clock } from '../../base/clock.ts';
import type { ModelFailure } from '../../protocol/model.ts';
import { type ResponseHeaders, findExhaustedLimit } from './limit-headers.ts';
import type { Permit } from './permit.ts';
import { ServedPeaks, type RefusedRequest, isRefusalSpecific } from './refused-request.ts';
import type { Hold } from './waiting-request.ts';

import * as windows from './concurrency-window.ts';

export interface LimiterSettings {
  /** Requests in flight, at least 1. */
  readonly maxConcurrent: number;
  /** 0: no limit. */
  readonly requestsPerMinute: number;
}

export interface AllowanceDeps {
  readonly clock: Clock;
  /** In [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
}

/** What of it is in use. */
export interface LaneUsage {
  /** Requests that were sent and have not ended. */
  readonly inFlight: number;
  /** Lanes that are kept for requests about to be sent. */
  readonly reserved: number;
}

/** How much may be sent to a provider, as the configuration and its own answers have it. */
export class Allowance {
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly minute: RequestsPerMinute;
  private readonly served = new ServedPeaks();
  private window: windows.ConcurrencyWindow;
  private pausedBy = '';

  constructor(settings: LimiterSettings, { clock, random = Math.random }: AllowanceDeps) {
    this.clock = clock;
    this.random = random;
    this.window = windows.openWindow(settings.maxConcurrent);
    this.minute = new RequestsPerMinute(settings.requestsPerMinute);
  }

  configure({ maxConcurrent, requestsPerMinute }: LimiterSettings): void {
    this.window = windows.resizeWindow(this.window, maxConcurrent);
    this.minute.most = requestsPerMinute;
  }

  get era(): number {
    return this.window.era;
  }

  hasRoom({ inFlight, reserved }: LaneUsage, now: number): boolean {
    if (inFlight + reserved >= windows.countAvailableLanes(this.window, now)) return false;
    return this.minute.freeAt(now, { reserved }) <= now;
  }

  /** Whether one more would be sent to find out whether the provider takes more. */
  wouldProbe({ inFlight, reserved }: LaneUsage): boolean {
    return inFlight + reserved >= this.window.size;
  }

  sent(now: number): void {
    this.minute.add(now);
  }

  /** Somebody waits: more is tried when it is time to. */
  wanted(now: number): void {
    this.window = windows.startProbe(this.window, now);
  }

  /** Returns whether that changes what may be sent. */
  accepted({ level, era }: Permit, inFlight: number): boolean {
    const { window } = this;
    // Nothing was ever refused.
    if (window.era === 0) return false;
    const now = this.clock.monotonic();
    this.served.add(now, Math.min(level, inFlight));
    this.window = windows.recordAcceptance(window, { era, level, inFlight, now });
    return this.window !== window;
  }

  /** Nothing is sent while its headers say that nothing is left. Returns whether that is so. */
  responded({ request }: Permit, headers: ResponseHeaders): boolean {
    const none = findExhaustedLimit(headers, this.clock.now());
    if (none === null) return false;
    const until = this.clock.monotonic() + none.ms * (1 + this.random() / 10);
    const window = windows.pauseWindow(this.window, until);
    if (window === this.window) return false;
    this.window = window;
    this.pausedBy = `the rate limit of ${request.model.provider}: no ${none.what} are left`;
    return true;
  }

  /** `beside`: others that are in flight. */
  refused(
    { request, level, era }: Permit,
    failure: ModelFailure,
    { tries, beside }: { readonly tries: RefusedRequest; readonly beside: number },
  ): void {
    const now = this.clock.monotonic();
    const isOwn = isRefusalSpecific(tries, { served: this.served, level });
    // Null: the server states no time.
    const retryAfterMs = failure.retryAfterMs ?? null;
    // What is overloaded counts as a failed try, and is waited for as one.
    if (failure.kind === 'rate_limit') {
      const ask = { retryAfterMs, random: this.random() };
      tries.notBefore = now + windows.computeWaitMs(tries.refusals, ask);
    }
    tries.refusals += 1;
    tries.refusedAt = now;
    if (isOwn) return;
    const refusal = { era, beside, retryAfterMs, now, random: this.random() };
    this.window = windows.recordRefusal(this.window, refusal);
    this.pausedBy = reasonOf(request.model.provider, failure);
  }

  /**
   * Why a request to `provider` waits; null: no rate limit holds it, but that as many are in flight as
   * may be.
   */
  holdOf(provider: string, { reserved }: LaneUsage, now: number): Hold | null {
    const epoch = this.clock.now() - now;
    const { pausedUntil, size } = this.window;
    if (pausedUntil > now)
      return { because: this.pausedBy, untilMs: Math.ceil(epoch + pausedUntil) };
    const freeAt = this.minute.freeAt(now, { reserved });
    if (freeAt > now) {
      const because = `requests_per_minute = ${this.minute.most} of ${provider}`;
      return { because, untilMs: Math.ceil(epoch + freeAt) };
    }
    const isLowered = windows.isWindowLowered(this.window);
    // Who waits for a lane that is kept must not keep those from getting ready who have it.
    if (!isLowered && reserved === 0) return null;
    const taken = isLowered ? `, which takes ${size} at a time` : '';
    return { because: `the rate limit of ${provider}${taken}`, untilMs: null };
  }

  /** When time alone changes what may be sent. */
  nextChange({ reserved }: LaneUsage, now: number): number {
    const { pausedUntil, probing, probeAt } = this.window;
    if (pausedUntil > now) return pausedUntil;
    const freeAt = this.minute.freeAt(now, { reserved });
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
 * When the last requests were sent, so that in no minute more than `most` are. Monotonic milliseconds.
 * Memory for those of one minute; none where `most` is 0, which means no limit.
 */
export class RequestsPerMinute {
  most: number;
  private sent: number[] = [];
  /** Where in `sent` those of the last minute begin. */
  private first = 0;

  constructor(most: number) {
    this.most = most;
  }

  /** When one more may be sent than those about to be; not after `now`: at once. */
  freeAt(now: number, { reserved }: { readonly reserved: number }): number {
    if (this.most === 0) return now;
    this.forget(now);
    const before = this.sent.length + reserved - this.most;
    if (before < 0) return now;
    return (this.sent[before] ?? now) + MINUTE_MS;
  }

  add(now: number): void {
    if (this.most > 0) this.sent.push(now);
  }

  private forget(now: number): void {
    while ((this.sent[this.first] ?? now) <= now - MINUTE_MS) this.first += 1;
    if (this.first < 1_000 && this.first < this.sent.length) return;
    this.sent = this.sent.slice(this.first);
    this.first = 0;
  }
}
