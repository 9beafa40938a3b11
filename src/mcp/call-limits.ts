import type { Clock } from '../base/clock.ts';
import { onAbort } from '../base/async.ts';
import { startDeadline, type Deadline } from '../base/deadlines.ts';
import { formatDuration } from '../base/text.ts';
import { McpServerError } from './server-error.ts';
import type { McpServerLimits } from './server-entry.ts';

/** The limits of the running requests of one server. They are suspended while the server waits for the user. */
export class RequestLimits {
  private readonly server: string;
  private readonly limits: McpServerLimits;
  private readonly clock: Clock;
  private readonly running = new Set<LimitedRequest>();
  private pauses = 0;

  constructor(server: string, limits: McpServerLimits, clock: Clock) {
    this.server = server;
    this.limits = limits;
    this.clock = clock;
  }

  /**
   * Starts the limits of a request. Call `end` on the result when the request has ended.
   *
   * @param maxMs the time that the request may take in total. Default: that for a call
   */
  start(signal: AbortSignal, maxMs = this.limits.callMs): LimitedRequest {
    const limits = { ...this.limits, callMs: maxMs };
    const request = new LimitedRequest(this.server, limits, { clock: this.clock, signal });
    this.running.add(request);
    if (this.pauses > 0) request.pause();
    request.onEnd = () => void this.running.delete(request);
    return request;
  }

  /** Does not count the time in which `work` runs. */
  async pauseDuring<T>(work: () => Promise<T>): Promise<T> {
    this.pauses += 1;
    for (const request of this.running) request.pause();
    try {
      return await work();
    } finally {
      this.pauses -= 1;
      if (this.pauses === 0) for (const request of this.running) request.resume();
    }
  }
}

interface RequestTimes {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The limits of one request: how long it may show no sign of life, and how long it may take in total. */
export class LimitedRequest {
  /** Aborts with the caller's signal, or with an McpServerError when a limit is exceeded. */
  readonly signal: AbortSignal;
  onEnd: () => void = () => {};
  private readonly server: string;
  private readonly limits: McpServerLimits;
  private readonly clock: Clock;
  private readonly controller = new AbortController();
  private readonly stopListening: () => void;
  private remainingMs: number;
  private countedFrom: number;
  private silence: Deadline | null = null;
  private total: Deadline | null = null;

  constructor(server: string, limits: McpServerLimits, { clock, signal }: RequestTimes) {
    this.server = server;
    this.limits = limits;
    this.clock = clock;
    this.signal = this.controller.signal;
    this.stopListening = onAbort(signal, () => this.controller.abort(signal.reason));
    this.remainingMs = limits.callMs;
    this.countedFrom = clock.monotonic();
    this.resume();
  }

  /** Notes a sign of life. */
  touch(): void {
    if (this.silence === null) return;
    this.silence.cancel();
    this.silence = this.startSilence();
  }

  /** Suspends the limits. */
  pause(): void {
    if (this.total === null) return;
    this.remainingMs -= this.clock.monotonic() - this.countedFrom;
    this.cancelDeadlines();
  }

  /** Continues after a pause. The time of silence begins anew. */
  resume(): void {
    if (this.total !== null) return;
    this.countedFrom = this.clock.monotonic();
    this.silence = this.startSilence();
    this.total = startDeadline(Math.max(this.remainingMs, 0), () =>
      this.expire(`took more than ${formatDuration(this.limits.callMs)}`),
    );
  }

  end(): void {
    this.cancelDeadlines();
    this.stopListening();
    this.onEnd();
  }

  private startSilence(): Deadline {
    const { silenceMs } = this.limits;
    return startDeadline(silenceMs, () =>
      this.expire(`showed no sign of life for ${formatDuration(silenceMs)}`),
    );
  }

  private cancelDeadlines(): void {
    this.silence?.cancel();
    this.total?.cancel();
    this.silence = null;
    this.total = null;
  }

  private expire(what: string): void {
    const { server } = this;
    this.controller.abort(
      new McpServerError(`the request ${what} and was cancelled`, {
        server,
        kind: 'timeout',
        isOutcomeUnknown: true,
      }),
    );
  }
}
