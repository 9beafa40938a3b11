import { deferred } from '../../base/async.ts';
import type { Deadline } from '../../base/deadlines.ts';
import type { Lane, ModelRequest } from '../../protocol/model.ts';
import type { QueuedRequest } from './request-queue.ts';
import type { Permit } from './permit.ts';
import type { RefusedRequest } from './refused-request.ts';

/** Why a request waits, and until when (milliseconds since the epoch; null: not known). */
export interface Hold {
  readonly because: string;
  readonly untilMs: number | null;
}

const NO_TREE: Lane = { tree: '', background: false };

/** One request that waits to be sent. */
export class WaitingRequest implements QueuedRequest {
  readonly request: ModelRequest;
  readonly lane: Lane;
  readonly tries: RefusedRequest;
  /** It knows that a rate limit holds it: its lane is kept while it gets ready. */
  isTold = false;
  /** Until when its lane is kept. */
  reservation: Deadline | null = null;
  /** Until when it is not in line. */
  delay: Deadline | null = null;
  private why: Hold | null = null;
  private granted = false;
  private permit: Permit | null = null;
  private news = deferred<void>();

  constructor(request: ModelRequest, tries: RefusedRequest) {
    this.request = request;
    this.lane = request.lane ?? NO_TREE;
    this.tries = tries;
  }

  get order(): number {
    return this.tries.order;
  }

  get since(): number {
    return this.tries.since;
  }

  get isGranted(): boolean {
    return this.granted;
  }

  /** Why it waits; null: for a lane, as always. */
  get hold(): Hold | null {
    return this.why;
  }

  tell(why: Hold): void {
    this.why = why;
    this.wake();
  }

  /** Null: it gets its permit once it is ready. */
  grant(permit: Permit | null): void {
    this.granted = true;
    this.permit = permit;
    this.wake();
  }

  takePermit(): Permit | null {
    const { permit } = this;
    this.permit = null;
    return permit;
  }

  /** It waits again as if it had just come. */
  startOver(): void {
    this.granted = false;
    this.isTold = false;
    this.why = null;
  }

  wake(): void {
    this.news.resolve();
  }

  /** Resolves when it is granted, has something to be told, or the signal aborts (which wakes it). */
  async changed(signal: AbortSignal): Promise<void> {
    while (!this.granted && (this.why === null || this.isTold) && !signal.aborted) {
      await this.news.promise;
      this.news = deferred();
    }
  }
}
