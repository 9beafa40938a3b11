import { deferred } from '../../base/async.ts';
import type { Deadline } from '../../base/deadlines.ts';
import type { RequestPriority, ModelRequest } from '../../protocol/model.ts';
import type { QueuedRequest } from './request-queue.ts';
import type { Permit } from './permit.ts';

/** The history of a request that was refused or had to wait. It is remembered until an attempt succeeds. */
export interface RequestHistory {
  /** The number of the request in the order of arrival. A refused request keeps its number. */
  readonly order: number;
  /** The time at which the request first waited, on a monotonic clock. */
  readonly since: number;
  /** The number of refusals so far. */
  refusals: number;
  /** The time of the last refusal, on a monotonic clock. */
  refusedAt: number;
  /** The earliest time at which the request may be sent again, on a monotonic clock. */
  notBefore: number;
}

/** The state of a request that a rate limit holds back, as the event `held` reports it. */
export interface Hold {
  /** The limit that the request waits for, as a noun phrase for messages. */
  readonly because: string;
  /** The end of the wait in milliseconds since the epoch; null: it is not known. */
  readonly untilMs: number | null;
}

/** The priority of a request without one: in the foreground, and part of no tree. */
const DEFAULT_PRIORITY: RequestPriority = { tree: '', background: false };

/** One request that waits to be sent. */
export class WaitingRequest implements QueuedRequest {
  readonly request: ModelRequest;
  readonly priority: RequestPriority;
  readonly history: RequestHistory;
  /**
   * True if the caller was informed by `held` that a rate limit holds the request. The caller may then need time to
   * continue, so a slot is reserved for the request meanwhile.
   */
  isInformed = false;
  /** The end of the reservation of a slot; null: no slot is reserved. */
  reservation: Deadline | null = null;
  /** The deadline at which the request enters the queue; null: it enters the queue at once. */
  delay: Deadline | null = null;
  /** True if the request may be sent as soon as the caller is ready. */
  isGranted = false;
  /** The rate limit that the request waits for; null: it waits only for one of the slots of this process. */
  hold: Hold | null = null;
  private permit: Permit | null = null;
  private change = deferred<void>();

  constructor(request: ModelRequest, history: RequestHistory) {
    this.request = request;
    this.priority = request.priority ?? DEFAULT_PRIORITY;
    this.history = history;
  }

  get order(): number {
    return this.history.order;
  }

  get waitingSince(): number {
    return this.history.since;
  }

  setHold(hold: Hold): void {
    this.hold = hold;
    this.wake();
  }

  /** Admits the request. `permit`: null if a slot is only reserved, for which the caller then claims a permit. */
  grant(permit: Permit | null): void {
    this.isGranted = true;
    this.permit = permit;
    this.wake();
  }

  takePermit(): Permit | null {
    const { permit } = this;
    this.permit = null;
    return permit;
  }

  /** Resets the state of the wait to that of a new request. The history remains. */
  resetWait(): void {
    this.isGranted = false;
    this.isInformed = false;
    this.hold = null;
  }

  wake(): void {
    this.change.resolve();
  }

  /** Resolves when the request is granted, has a hold to report, or is cancelled. The caller calls `wake` when the signal aborts. */
  async waitForChange(signal: AbortSignal): Promise<void> {
    while (!this.isGranted && (this.hold === null || this.isInformed) && !signal.aborted) {
      await this.change.promise;
      this.change = deferred();
    }
  }
}
