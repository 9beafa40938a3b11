import type { KeySource } from '../../protocol/api-key.ts';
import { onAbort } from '../../base/async.ts';
import type { Deadline, Deadlines } from '../../base/deadlines.ts';
import type { Message } from '../../protocol/message.ts';
import type { ModelFailure, ModelPart, ModelRequest } from '../../protocol/model.ts';
import { Allowance, type AllowanceDeps, type LimiterSettings, type SlotUse } from './allowance.ts';
import type { ResponseHeaders } from './limit-headers.ts';
import { RequestQueue } from './request-queue.ts';
import { Permit, type PermitListener } from './permit.ts';
import { type RequestRecord, WaitingRequest } from './waiting-request.ts';

export interface LimiterDeps extends AllowanceDeps {
  /** The shared deadlines of the process: one timer serves all of them. */
  readonly deadlines: Deadlines;
}

/** Milliseconds for which a slot stays reserved for a waiting request that has to get ready first. */
const RESERVED_MS = 1_000;
/** A request that was refused this often is not used as a probe. */
const MAX_REFUSALS_TO_PROBE = 2;

/**
 * Admits the requests to one provider account, no more at a time than it accepts. Other requests wait in a
 * queue. `concurrency-window.ts` decides how many are admitted and when, `request-queue.ts` decides which.
 */
export class Limiter implements PermitListener, SlotUse {
  private readonly deps: LimiterDeps;
  private readonly allowance: Allowance;
  private readonly queue = new RequestQueue<WaitingRequest>();
  /** The requests in the queue that have not been told yet that a rate limit holds them. */
  private readonly uninformed = new Set<WaitingRequest>();
  /** The records of refused requests, by the list of messages, which all attempts of a request share. */
  private readonly records = new WeakMap<readonly Message[], RequestRecord>();
  inFlight = 0;
  /** Number of slots reserved for requests that are getting ready. */
  reserved = 0;
  private lastOrder = 0;
  private nextCheck: { readonly at: number; readonly deadline: Deadline } | null = null;

  constructor(settings: LimiterSettings, deps: LimiterDeps) {
    this.deps = deps;
    this.allowance = new Allowance(settings, deps);
  }

  /** Replaces the settings, for the waiting requests too. */
  configure(settings: LimiterSettings): void {
    this.allowance.configure(settings);
    this.admitWaiting();
  }

  /** Admits a request at once. Returns null if it has to `wait`. */
  enter(request: ModelRequest): Permit | null {
    const now = this.deps.clock.monotonic();
    if (this.queue.size > 0 || !this.hasRoom(now)) return null;
    const notBefore = this.records.get(request.messages)?.notBefore ?? 0;
    return notBefore > now ? null : this.send(request, now);
  }

  /**
   * Waits in the queue for a permit. Yields `held` if a rate limit is the reason for waiting, and `admitted`
   * afterwards. Returns null when the signal aborts.
   */
  async *wait(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelPart, Permit | null, undefined> {
    const waiter = new WaitingRequest(request, this.recordOf(request));
    const stopListening = onAbort(signal, () => waiter.wake());
    try {
      this.join(waiter);
      for (;;) {
        await waiter.changed(signal);
        if (signal.aborted) return null;
        if (waiter.isGranted) {
          if (waiter.isInformed) yield { type: 'admitted' };
          if (signal.aborted) return null;
          const permit = waiter.takePermit() ?? this.claim(waiter);
          if (permit !== null) return permit;
        } else if (waiter.hold !== null) {
          waiter.isInformed = true;
          yield { type: 'held', ...waiter.hold };
        }
      }
    } finally {
      stopListening();
      this.cleanUp(waiter);
    }
  }

  accepted(permit: Permit): void {
    if (this.allowance.recordAcceptance(permit, this.inFlight)) this.admitWaiting();
  }

  responded(permit: Permit, headers: ResponseHeaders): void {
    if (this.allowance.readHeaders(permit, headers)) this.admitWaiting();
  }

  ended(permit: Permit, failure: ModelFailure | null): void {
    this.inFlight -= 1;
    const { kind, retryable } = failure ?? { kind: null, retryable: false };
    if (failure !== null && retryable && (kind === 'rate_limit' || kind === 'overloaded')) {
      const record = this.recordOf(permit.request);
      this.allowance.recordRefusal(permit, failure, { record, othersInFlight: this.inFlight });
      // The record is kept until the answer is complete: a server can still refuse inside an answer.
    } else if (failure === null) this.records.delete(permit.request.messages);
    this.admitWaiting();
  }

  private recordOf({ messages }: ModelRequest): RequestRecord {
    const known = this.records.get(messages);
    if (known !== undefined) return known;
    this.lastOrder += 1;
    const since = this.deps.clock.monotonic();
    const record = { order: this.lastOrder, since, refusals: 0, refusedAt: 0, notBefore: 0 };
    this.records.set(messages, record);
    return record;
  }

  private hasRoom(now: number): boolean {
    return this.allowance.hasRoom(this, now);
  }

  private send(request: ModelRequest, now: number): Permit {
    this.allowance.recordSent(now);
    this.inFlight += 1;
    return new Permit(this, request, { level: this.inFlight, era: this.allowance.era });
  }

  private join(waiter: WaitingRequest): void {
    const { clock, deadlines } = this.deps;
    const remainingMs = waiter.record.notBefore - clock.monotonic();
    if (remainingMs <= 0) {
      this.enqueue(waiter);
      return;
    }
    const because = `the rate limit of ${waiter.request.model.provider}`;
    waiter.setHold({ because, untilMs: clock.now() + Math.ceil(remainingMs) });
    waiter.delay = deadlines.after(remainingMs, () => this.enqueue(waiter));
  }

  private enqueue(waiter: WaitingRequest): void {
    this.queue.add(waiter);
    if (!waiter.isInformed) this.uninformed.add(waiter);
    this.admitWaiting();
  }

  /** Takes a request out of the queue and gives back what it has not used. */
  private cleanUp(waiter: WaitingRequest): void {
    this.queue.remove(waiter);
    this.uninformed.delete(waiter);
    waiter.delay?.cancel();
    this.unreserve(waiter);
    waiter.takePermit()?.end();
    this.admitWaiting();
  }

  /** Admits the requests that can be sent now, and tells the others why they wait. */
  private admitWaiting(): void {
    const now = this.deps.clock.monotonic();
    if (this.queue.size > 0) {
      this.allowance.startProbeIfDue(now);
      for (let next = this.queue.next(now); next !== undefined; next = this.queue.next(now)) {
        if (!this.hasRoom(now) || this.isUnfitForProbe(next)) break;
        this.queue.take(now);
        this.grant(next, now);
      }
      this.informWaiting(now);
    }
    this.scheduleCheck(now);
  }

  private isUnfitForProbe({ record }: WaitingRequest): boolean {
    if (record.refusals < MAX_REFUSALS_TO_PROBE) return false;
    return this.allowance.wouldProbe(this);
  }

  private grant(waiter: WaitingRequest, now: number): void {
    this.uninformed.delete(waiter);
    if (!waiter.isInformed) {
      waiter.grant(this.send(waiter.request, now));
      return;
    }
    this.reserved += 1;
    waiter.reservation = this.deps.deadlines.after(RESERVED_MS, () => {
      this.unreserve(waiter);
      this.admitWaiting();
    });
    waiter.grant(null);
  }

  /**
   * Gives a permit to a request that has got ready. It may take a slot that is reserved for another one, since
   * slow requests would otherwise reserve the slot for each other for ever. Returns null if there is no slot,
   * and the request is in the queue again.
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

  private informWaiting(now: number): void {
    for (const waiter of this.uninformed) {
      const { provider } = waiter.request.model;
      const hold = this.allowance.explainHold(provider, this, now);
      if (hold === null) return;
      this.uninformed.delete(waiter);
      waiter.setHold(hold);
    }
  }

  /** Sets the one deadline at which the queue is checked again. */
  private scheduleCheck(now: number): void {
    const at = this.queue.size === 0 ? Infinity : this.allowance.nextChange(this, now);
    if (this.nextCheck?.at === at) return;
    this.nextCheck?.deadline.cancel();
    this.nextCheck = null;
    if (at === Infinity) return;
    const deadline = this.deps.deadlines.after(at - now, () => {
      this.nextCheck = null;
      this.admitWaiting();
    });
    this.nextCheck = { at, deadline };
  }
}

/** The address and key by which a provider counts requests. */
export interface ProviderAccount {
  readonly baseUrl: string;
  /** The key. Null when none is sent, or when it is read from `keySource`. */
  readonly apiKey: string | null;
  readonly keySource?: KeySource;
}

/** The limiters of the process. Its sessions, and different names of one provider, share them. */
const limiters = new Map<string, Limiter>();

/** Returns the limiter of an account, which uses these settings from now on. */
export function findSharedLimiter(
  account: ProviderAccount,
  settings: LimiterSettings,
  deps: LimiterDeps,
): Limiter {
  const name = JSON.stringify([account.baseUrl, account.apiKey, account.keySource]);
  const known = limiters.get(name);
  if (known !== undefined) {
    known.configure(settings);
    return known;
  }
  const limiter = new Limiter(settings, deps);
  limiters.set(name, limiter);
  return limiter;
}
