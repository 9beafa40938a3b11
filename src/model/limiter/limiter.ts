import type { KeySource } from '../../protocol/api-key.ts';
import { onAbort } from '../../base/async.ts';
import type { Deadline, Deadlines } from '../../base/deadlines.ts';
import type { Message } from '../../protocol/message.ts';
import type { ModelFailure, ModelPart, ModelRequest } from '../../protocol/model.ts';
import { Allowance, type AllowanceDeps, type LimiterSettings, type SlotUse } from './allowance.ts';
import type { ResponseHeaders } from './limit-headers.ts';
import { RequestQueue } from './request-queue.ts';
import { Permit, type PermitListener } from './permit.ts';
import { type RequestHistory, WaitingRequest } from './waiting-request.ts';

export interface LimiterDeps extends AllowanceDeps {
  /** The shared deadlines of the process, which use one timer together. */
  readonly deadlines: Deadlines;
}

/** The time for which a slot remains reserved for a request whose caller has to get ready first. */
const RESERVED_MS = 1_000;
/** A request with this many refusals is not used as a probe, because it may be refused for another reason. */
const MAX_REFUSALS_TO_PROBE = 2;

/**
 * Admits the requests to one provider account, no more at a time than the provider accepts. All others wait in a
 * queue. `allowance.ts` decides how many are admitted and when, and `request-queue.ts` decides which.
 */
export class Limiter implements PermitListener, SlotUse {
  private readonly deps: LimiterDeps;
  private readonly allowance: Allowance;
  private readonly queue = new RequestQueue<WaitingRequest>();
  /** The requests in the queue whose callers do not know yet that a rate limit holds them. */
  private readonly uninformed = new Set<WaitingRequest>();
  /** The histories of the waiting and refused requests. The key is the list of messages, which all attempts of a request share. */
  private readonly histories = new WeakMap<readonly Message[], RequestHistory>();
  inFlight = 0;
  /** The number of slots that are reserved for requests whose callers are getting ready. */
  reserved = 0;
  private lastOrder = 0;
  private nextCheck: { readonly at: number; readonly deadline: Deadline } | null = null;

  constructor(settings: LimiterSettings, deps: LimiterDeps) {
    this.deps = deps;
    this.allowance = new Allowance(settings, deps);
  }

  /** Replaces the settings. The new settings apply to the waiting requests too. */
  configure(settings: LimiterSettings): void {
    this.allowance.configure(settings);
    this.admitWaiting();
  }

  /** Admits a request at once. Returns null if the request has to wait; then call `wait`. */
  enter(request: ModelRequest): Permit | null {
    const now = this.deps.clock.monotonic();
    if (this.queue.size > 0 || !this.hasRoom(now)) return null;
    const notBefore = this.histories.get(request.messages)?.notBefore ?? 0;
    return notBefore > now ? null : this.send(request, now);
  }

  /**
   * Waits in the queue for a permit. Yields `held` if a rate limit is the reason for waiting, and `admitted` when the
   * wait is over. Returns null when the signal aborts.
   */
  async *wait(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelPart, Permit | null, undefined> {
    const waiter = new WaitingRequest(request, this.findOrCreateHistory(request));
    const stopListening = onAbort(signal, () => waiter.wake());
    try {
      this.join(waiter);
      for (;;) {
        await waiter.waitForChange(signal);
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
      const history = this.findOrCreateHistory(permit.request);
      this.allowance.recordRefusal(permit, failure, { history, othersInFlight: this.inFlight });
      // The history is deleted only after a complete answer, because a server can still refuse inside an answer.
    } else if (failure === null) this.histories.delete(permit.request.messages);
    this.admitWaiting();
  }

  private findOrCreateHistory({ messages }: ModelRequest): RequestHistory {
    const known = this.histories.get(messages);
    if (known !== undefined) return known;
    this.lastOrder += 1;
    const since = this.deps.clock.monotonic();
    const history = { order: this.lastOrder, since, refusals: 0, refusedAt: 0, notBefore: 0 };
    this.histories.set(messages, history);
    return history;
  }

  private hasRoom(now: number): boolean {
    return this.allowance.hasRoom(this, now);
  }

  private send(request: ModelRequest, now: number): Permit {
    this.allowance.recordSent(now);
    this.inFlight += 1;
    return new Permit(this, request, { inFlightAtSend: this.inFlight, era: this.allowance.era });
  }

  private join(waiter: WaitingRequest): void {
    const { clock, deadlines } = this.deps;
    const remainingMs = waiter.history.notBefore - clock.monotonic();
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

  /** Removes a request from the queue, and releases its reservation and its unused permit. */
  private cleanUp(waiter: WaitingRequest): void {
    this.queue.remove(waiter);
    this.uninformed.delete(waiter);
    waiter.delay?.cancel();
    this.unreserve(waiter);
    waiter.takePermit()?.end();
    this.admitWaiting();
  }

  /** Admits the requests that can be sent now, and informs the others why they wait. */
  private admitWaiting(): void {
    const now = this.deps.clock.monotonic();
    if (this.queue.size > 0) {
      this.allowance.startProbeIfDue(now);
      for (let next = this.queue.next(now); next !== undefined; next = this.queue.next(now)) {
        if (!this.hasRoom(now) || this.mustNotProbe(next)) break;
        this.queue.take(now);
        this.grant(next, now);
      }
      this.informWaiting(now);
    }
    this.scheduleCheck(now);
  }

  private mustNotProbe({ history }: WaitingRequest): boolean {
    if (history.refusals < MAX_REFUSALS_TO_PROBE) return false;
    return this.allowance.isNextRequestProbe(this);
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
   * Gives a permit to a request whose caller is ready. The request may take a slot that is reserved for another
   * request. Otherwise slow callers could block the slot for ever, because each of them would reserve it again.
   * Returns null if no slot is free; the request is then in the queue again.
   */
  private claim(waiter: WaitingRequest): Permit | null {
    const now = this.deps.clock.monotonic();
    this.unreserve(waiter);
    if (this.allowance.hasRoom({ inFlight: this.inFlight, reserved: 0 }, now)) {
      return this.send(waiter.request, now);
    }
    waiter.resetWait();
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
    const at = this.queue.size === 0 ? Infinity : this.allowance.nextChangeTime(this, now);
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

/** The base URL and API key that identify an account at a provider, for which the provider counts requests. */
export interface ProviderAccount {
  readonly baseUrl: string;
  /** The key. Null when none is sent, or when it is read from `keySource`. */
  readonly apiKey: string | null;
  readonly keySource?: KeySource;
}

/** The limiters of the process by account. All sessions share them, as do several provider names for one account. */
const limiters = new Map<string, Limiter>();

/** Returns the limiter of an account. It uses these settings from now on. */
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
