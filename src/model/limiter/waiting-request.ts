import { deferred } from '../../base/async.ts';
import type { Deadline } from '../../base/deadlines.ts';
import type { RequestPriority, ModelRequest } from '../../protocol/model.ts';
import type { QueuedRequest } from './request-queue.ts';
import type { Permit } from './permit.ts';

/** The history of a request that was refused or had to wait. It is kept until an attempt succeeds. */
export interface RequestRecord {
  /** The number of the request among all that ever waited. It stays the same after a refusal. */
  readonly order: number;
  /** The time at which it first waited, on a monotonic clock. */
  readonly since: number;
  refusals: number;
  /** The time of the last refusal. */
  refusedAt: number;
  /** The earliest time at which it is sent again. */
  notBefore: number;
}

/** The state of a request that a rate limit holds back, as the event `held` reports it. */
export interface Hold {
  /** The reason. */
  readonly because: string;
  /** The end of the wait in milliseconds since the epoch; null: it is not known. */
  readonly untilMs: number | null;
}

const NO_TREE: RequestPriority = { tree: '', background: false };

/** One request that waits to be sent. */
export class WaitingRequest implements QueuedRequest {
  readonly request: ModelRequest;
  readonly lane: RequestPriority;
  readonly record: RequestRecord;
  /** True if its owner knows that a rate limit holds it: a slot is then reserved while the owner gets ready. */
  isInformed = false;
  /** The end of the reservation of its slot; null: none is reserved. */
  reservation: Deadline | null = null;
  /** The time at which it enters the queue; null: it need not wait for that. */
  delay: Deadline | null = null;
  /** True if it may be sent, as soon as it is ready. */
  isGranted = false;
  /** The reason why it waits; null: it waits only for a slot, as any request may. */
  hold: Hold | null = null;
  private permit: Permit | null = null;
  private change = deferred<void>();

  constructor(request: ModelRequest, record: RequestRecord) {
    this.request = request;
    this.lane = request.priority ?? NO_TREE;
    this.record = record;
  }

  get order(): number {
    return this.record.order;
  }

  get since(): number {
    return this.record.since;
  }

  setHold(hold: Hold): void {
    this.hold = hold;
    this.wake();
  }

  /** Admits the request. `permit`: null if it has to get ready and claim a permit then. */
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

  /** Makes it wait again as if it had just come. */
  startOver(): void {
    this.isGranted = false;
    this.isInformed = false;
    this.hold = null;
  }

  wake(): void {
    this.change.resolve();
  }

  /** Resolves when it is granted, has a hold to report, or the signal aborts (the caller then calls `wake`). */
  async changed(signal: AbortSignal): Promise<void> {
    while (!this.isGranted && (this.hold === null || this.isInformed) && !signal.aborted) {
      await this.change.promise;
      this.change = deferred();
    }
  }
}
