import { onAbort } from '../../base/async.ts';
import type { Deadline, Deadlines } from '../../base/deadlines.ts';
import type { Message } from '../../protocol/message.ts';
import type { ModelFailure, ModelPart, ModelRequest } from '../../protocol/model.ts';
import {
  Allowance,
  type AllowanceDeps,
  type LimiterSettings,
  type LaneUsage,
} from './allowance.ts';
import type { ResponseHeaders } from './limit-headers.ts';
import { RequestQueue } from './request-queue.ts';
import { Permit, type PermitListener } from './permit.ts';
import type { RefusedRequest } from './refused-request.ts';
import { WaitingRequest } from './waiting-request.ts';

export interface LimiterDeps extends AllowanceDeps {
  /** Shared: one timer serves all that waits. */
  readonly deadlines: Deadlines;
}

/** For so long a lane is kept for a request that was told of it; then others may have it. */
const RESERVED_MS = 1_000;
/** One refused so often is not the one to try for more lanes with. */
const POOR_REFUSALS = 2;

/**
 * Lets the requests to one provider under one key go, no more at a time than it takes. Who has to wait
 * stands in line. How many may go, and when, is decided in `window.ts`, who in `line.ts`.
 */
export class Limiter implements PermitListener, LaneUsage {
  private readonly deps: LimiterDeps;
  private readonly allowance: Allowance;
  private readonly line = new RequestQueue<WaitingRequest>();
  /** Those in line who do not know yet of any rate limit. */
  private readonly untold = new Set<WaitingRequest>();
  /** By what all tries of a request share. */
  private readonly known = new WeakMap<readonly Message[], RefusedRequest>();
  inFlight = 0;
  /** For those who get ready. */
  reserved = 0;
  private lastOrder = 0;
  private nextLook: { readonly at: number; readonly deadline: Deadline } | null = null;

  constructor(settings: LimiterSettings, deps: LimiterDeps) {
    this.deps = deps;
    this.allowance = new Allowance(settings, deps);
  }

  /** The newest settings hold for all. */
  configure(settings: LimiterSettings): void {
    this.allowance.configure(settings);
    this.letGo();
  }

  /** Null where the request has to `wait`. */
  enter(request: ModelRequest): Permit | null {
    const now = this.deps.clock.monotonic();
    if (this.line.size > 0 || !this.hasRoom(now)) return null;
    const notBefore = this.known.get(request.messages)?.notBefore ?? 0;
    return notBefore > now ? null : this.send(request, now);
  }

  /** Waits in line, and tells of it where a rate limit is why. Returns null when the signal aborts. */
  async *wait(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelPart, Permit | null, undefined> {
    const waiter = new WaitingRequest(request, this.triesOf(request));
    const forget = onAbort(signal, () => waiter.wake());
    try {
      this.join(waiter);
      for (;;) {
        await waiter.changed(signal);
        if (signal.aborted) return null;
        if (waiter.isGranted) {
          if (waiter.isTold) yield { type: 'admitted' };
          if (signal.aborted) return null;
          const permit = waiter.takePermit() ?? this.claim(waiter);
          if (permit !== null) return permit;
        } else if (waiter.hold !== null) {
          waiter.isTold = true;
          yield { type: 'held', ...waiter.hold };
        }
      }
    } finally {
      forget();
      this.quit(waiter);
    }
  }

  accepted(permit: Permit): void {
    if (this.allowance.accepted(permit, this.inFlight)) this.letGo();
  }

  responded(permit: Permit, headers: ResponseHeaders): void {
    if (this.allowance.responded(permit, headers)) this.letGo();
  }

  left(permit: Permit, failure: ModelFailure | null): void {
    this.inFlight -= 1;
    const { kind, retryable } = failure ?? { kind: null, retryable: false };
    if (failure !== null && retryable && (kind === 'rate_limit' || kind === 'overloaded')) {
      const tries = this.triesOf(permit.request);
      this.allowance.refused(permit, failure, { tries, beside: this.inFlight });
      // Not when it is accepted: an answer that has begun may still be refused inside.
    } else if (failure === null) this.known.delete(permit.request.messages);
    this.letGo();
  }

  private triesOf({ messages }: ModelRequest): RefusedRequest {
    const known = this.known.get(messages);
    if (known !== undefined) return known;
    this.lastOrder += 1;
    const since = this.deps.clock.monotonic();
    const tries = { order: this.lastOrder, since, refusals: 0, refusedAt: 0, notBefore: 0 };
    this.known.set(messages, tries);
    return tries;
  }

  private hasRoom(now: number): boolean {
    return this.allowance.hasRoom(this, now);
  }

  private send(request: ModelRequest, now: number): Permit {
    this.allowance.sent(now);
    this.inFlight += 1;
    return new Permit(this, request, { level: this.inFlight, era: this.allowance.era });
  }

  private join(waiter: WaitingRequest): void {
    const { clock, deadlines } = this.deps;
    const leftMs = waiter.tries.notBefore - clock.monotonic();
    if (leftMs <= 0) {
      this.enqueue(waiter);
      return;
    }
    const because = `the rate limit of ${waiter.request.model.provider}`;
    waiter.tell({ because, untilMs: clock.now() + Math.ceil(leftMs) });
    waiter.delay = deadlines.after(leftMs, () => this.enqueue(waiter));
  }

  private enqueue(waiter: WaitingRequest): void {
    this.line.add(waiter);
    if (!waiter.isTold) this.untold.add(waiter);
    this.letGo();
  }

  /** Gives back all that a waiter has not used. */
  private quit(waiter: WaitingRequest): void {
    this.line.remove(waiter);
    this.untold.delete(waiter);
    waiter.delay?.cancel();
    this.unreserve(waiter);
    waiter.takePermit()?.leave();
    this.letGo();
  }

  /** Lets go who can, and tells the others why they can't. */
  private letGo(): void {
    const now = this.deps.clock.monotonic();
    if (this.line.size > 0) {
      this.allowance.wanted(now);
      for (let next = this.line.next(now); next !== undefined; next = this.line.next(now)) {
        if (!this.hasRoom(now) || this.isTooPoor(next)) break;
        this.line.take(now);
        this.grant(next, now);
      }
      this.tellWhy(now);
    }
    this.lookAgain(now);
  }

  private isTooPoor({ tries }: WaitingRequest): boolean {
    if (tries.refusals < POOR_REFUSALS) return false;
    return this.allowance.wouldProbe(this);
  }

  private grant(waiter: WaitingRequest, now: number): void {
    this.untold.delete(waiter);
    if (!waiter.isTold) {
      waiter.grant(this.send(waiter.request, now));
      return;
    }
    this.reserved += 1;
    waiter.reservation = this.deps.deadlines.after(RESERVED_MS, () => {
      this.unreserve(waiter);
      this.letGo();
    });
    waiter.grant(null);
  }

  /**
   * For one that was told and is ready now, also in the lane that is kept for another who is not: else
   * those who all take too long would keep it for each other for ever. Null: it is in line again.
   */
  private claim(waiter: WaitingRequest): Permit | null {
    const now = this.deps.clock.monotonic();
    this.unreserve(waiter);
    if (this.allowance.hasRoom({ inFlight: this.inFlight, reserved: 0 }, now)) {
      return this.send(waiter.request, now);
    }
    waiter.startOver();
    this.enqueue(waiter);
    return null;
  }

  private unreserve(waiter: WaitingRequest): void {
    if (waiter.reservation === null) return;
    waiter.reservation.cancel();
    waiter.reservation = null;
    this.reserved -= 1;
  }

  private tellWhy(now: number): void {
    for (const waiter of this.untold) {
      const { provider } = waiter.request.model;
      const hold = this.allowance.holdOf(provider, this, now);
      if (hold === null) return;
      this.untold.delete(waiter);
      waiter.tell(hold);
    }
  }

  /** One deadline for all in line. */
  private lookAgain(now: number): void {
    const at = this.line.size === 0 ? Infinity : this.allowance.nextChange(this, now);
    if (this.nextLook?.at === at) return;
    this.nextLook?.deadline.cancel();
    this.nextLook = null;
    if (at === Infinity) return;
    const deadline = this.deps.deadlines.after(at - now, () => {
      this.nextLook = null;
      this.letGo();
    });
    this.nextLook = { at, deadline };
  }
}

/** What a provider counts requests by. */
export interface ProviderAccount {
  readonly baseUrl: string;
  /** Null: none is sent. */
  readonly apiKey: string | null;
}

/** Of the whole process: several sessions in it, or names for one provider, share what it allows. */
const limiters = new Map<string, Limiter>();

/** The one of an account, with these settings from now on. */
export function findSharedLimiter(
  account: ProviderAccount,
  settings: LimiterSettings,
  deps: LimiterDeps,
): Limiter {
  const name = JSON.stringify([account.baseUrl, account.apiKey]);
  const known = limiters.get(name);
  if (known !== undefined) {
    known.configure(settings);
    return known;
  }
  const limiter = new Limiter(settings, deps);
  limiters.set(name, limiter);
  return limiter;
}
