import { onAbort } from '../base/async.ts';
import type { Clock } from '../base/clock.ts';
import type { Deadline, Deadlines } from '../base/deadlines.ts';
import { formatDuration } from '../base/text.ts';
import {
  modelName,
  type AwaitedProgress,
  type ModelFailure,
  type ModelPart,
  type ModelPort,
  type ProgressPart,
  type AnswerListener,
} from '../protocol/model.ts';
import type { WireModelPort } from './adapters/adapter.ts';
import type { WireObserver } from './adapters/send-request.ts';
import type { ResponseHeaders } from './limiter/limit-headers.ts';
import type { Limiter } from './limiter/limiter.ts';
import type { Permit } from './limiter/permit.ts';

/** The limits of `[liveness]`, in milliseconds. */
export interface LivenessLimits {
  /** The maximum time until the connection is established and the request is sent. */
  readonly connectMs: number;
  /** The maximum time from sending the request to the first content. */
  readonly firstTokenMs: number;
  /** The maximum time between two events of the answer after the first content. */
  readonly streamIdleMs: number;
}

const CANCELLED: ModelPart = {
  type: 'failed',
  failure: {
    kind: 'cancelled',
    message: 'cancelled before the request was sent',
    retryable: false,
  },
};

/** The length of the first silence that is reported. The length doubles after each reported silence. */
const FIRST_SILENCE_MS = 3_000;

/** The maximum time for which bytes without content, such as pings, extend a limit. */
const MAX_WITHOUT_CONTENT_MS = 600_000;

/** The dependencies of the watchdog. */
export interface WatchdogDeps {
  readonly clock: Clock;
  /** The shared deadlines of the process: one timer serves all streams. */
  readonly deadlines: Deadlines;
  /** Admits the requests. The watch of a request begins when the request is admitted. Default: every request is sent at once. */
  readonly limiter?: Limiter;
}

/**
 * Wraps a port so that a request ends with `failed`, kind `timeout`, when its server is silent for too long. Any
 * byte from the server extends the current limit. Bytes without content extend it for at most 600 s in total, or for
 * the length of the limit itself if that is longer.
 */
export function withWatchdog(
  port: WireModelPort,
  limits: LivenessLimits,
  deps: WatchdogDeps,
): ModelPort {
  const { limiter } = deps;
  return {
    // One generator serves both the limiter and the watch, because every generator costs time for each part.
    async *stream(request, signal, listener) {
      let permit: Permit | null = null;
      if (limiter !== undefined) {
        permit = limiter.enter(request) ?? (yield* limiter.wait(request, signal));
        if (permit === null) {
          yield CANCELLED;
          return;
        }
      }
      const controller = new AbortController();
      const release = onAbort(signal, () => controller.abort(signal.reason));
      const watch = new Watch({
        limits,
        deps,
        permit,
        listener,
        abort: () => controller.abort(),
      });
      try {
        for await (const part of port.stream(request, controller.signal, watch)) {
          watch.observe(part);
          permit?.observe(part);
          yield part.type === 'failed' && watch.expired !== null
            ? { ...part, failure: createTimeout(modelName(request.model), watch.expired) }
            : part;
        }
      } finally {
        watch.stop();
        permit?.end();
        release();
      }
    },
  };
}

/** The limit that a request exceeded. */
interface ExpiredLimit {
  readonly phase: Phase;
  /** The time in which the server sent nothing, or nothing but pings. */
  readonly silentMs: number;
}

type Phase = 'connecting' | 'waiting' | 'streaming';

interface PhaseDetails {
  /** The name of the limit in failures. The configuration key in `[liveness]` is this name followed by `_seconds`. */
  readonly limit: NonNullable<ModelFailure['limit']>;
  /** The event that ends the phase, for reports of silence. */
  readonly awaited: AwaitedProgress;
  /** The field that holds the limit. */
  readonly field: keyof LivenessLimits;
  /** The beginning of the message of a timeout. */
  readonly text: string;
}

const PHASES: Readonly<Record<Phase, PhaseDetails>> = {
  connecting: {
    limit: 'connect',
    awaited: 'connection',
    field: 'connectMs',
    text: 'no connection',
  },
  waiting: {
    limit: 'first_token',
    awaited: 'first_token',
    field: 'firstTokenMs',
    text: 'no first token',
  },
  streaming: {
    limit: 'stream_idle',
    awaited: 'next_event',
    field: 'streamIdleMs',
    text: 'the stream fell silent',
  },
};

interface WatchOptions {
  readonly limits: LivenessLimits;
  readonly deps: WatchdogDeps;
  readonly permit: Permit | null;
  readonly listener: AnswerListener | undefined;
  readonly abort: () => void;
}

/** Watches one request. Each piece of the body only updates a timestamp, which is checked at the deadline. */
class Watch implements WireObserver {
  expired: ExpiredLimit | null = null;
  /** Takes the progress of the answer. Undefined if there is no listener: the stream then yields the progress. */
  readonly progressed: ((part: ProgressPart) => void) | undefined;
  private readonly options: WatchOptions;
  private readonly clock: Clock;
  private phase: Phase = 'connecting';
  private lastByteAt: number;
  private lastContentAt: number;
  private deadline: Deadline;
  /** The time of the next check, on the monotonic clock. */
  private checkAt = Infinity;
  private hasEnded = false;
  private isSilent = false;
  private silenceMs = FIRST_SILENCE_MS;

  constructor(options: WatchOptions) {
    this.options = options;
    this.clock = options.deps.clock;
    const { listener } = options;
    if (listener !== undefined) {
      this.progressed = (part) => {
        this.recordContent();
        listener.onProgress(part);
      };
    }
    this.lastByteAt = this.clock.monotonic();
    this.lastContentAt = this.lastByteAt;
    this.deadline = this.scheduleCheck();
  }

  connected(): void {
    if (this.phase !== 'connecting' || this.hasEnded) return;
    this.enter('waiting');
    this.options.listener?.onSent?.();
  }

  responded(headers: ResponseHeaders): void {
    this.options.permit?.responded(headers);
  }

  bytes(): void {
    this.lastByteAt = this.clock.monotonic();
  }

  argumentsGrew(): void {
    this.recordContent();
  }

  private recordContent(): void {
    if (this.phase !== 'streaming') this.enter('streaming');
    this.lastByteAt = this.clock.monotonic();
    this.lastContentAt = this.lastByteAt;
    if (this.isSilent) this.reportResumed();
  }

  observe(part: ModelPart): void {
    switch (part.type) {
      case 'text_delta':
      case 'reasoning_delta':
      case 'tool_call_started':
        this.recordContent();
        return;
      case 'accepted':
      case 'ping':
        this.connected();
        this.bytes();
        return;
      case 'held':
      case 'admitted':
        return;
      case 'finished':
      case 'failed':
        this.stop();
    }
  }

  stop(): void {
    this.hasEnded = true;
    this.deadline.cancel();
  }

  private enter(phase: Phase): void {
    // A connection may be established after its request has ended. A new deadline would then never be cancelled.
    if (this.hasEnded) return;
    this.phase = phase;
    this.lastByteAt = this.clock.monotonic();
    this.lastContentAt = this.lastByteAt;
    // An earlier deadline is kept: its check sets the next deadline, and most answers have ended before the check.
    if (this.msUntilCheck() + this.lastByteAt < this.checkAt) {
      this.deadline.cancel();
      this.deadline = this.scheduleCheck();
    }
    if (this.isSilent && phase !== 'streaming') this.reportSilence();
  }

  private scheduleCheck(): Deadline {
    const ms = this.msUntilCheck();
    this.checkAt = this.clock.monotonic() + ms;
    return this.options.deps.deadlines.after(ms, () => this.check());
  }

  private msUntilCheck(): number {
    return Math.min(this.msUntilLimit(), this.msUntilSilence());
  }

  private check(): void {
    if (this.msUntilLimit() > 0) {
      if (this.msUntilSilence() <= 0) this.reportSilence();
      this.deadline = this.scheduleCheck();
      return;
    }
    const onlyPings =
      this.lastByteAt > this.lastContentAt && this.byteLimitEndsAt() > this.contentLimitEndsAt();
    const since = onlyPings ? this.lastContentAt : this.lastByteAt;
    this.expired = { phase: this.phase, silentMs: this.clock.monotonic() - since };
    this.options.abort();
  }

  /** Returns the milliseconds until the limit of the phase is exceeded if nothing more arrives. */
  private msUntilLimit(): number {
    return Math.min(this.byteLimitEndsAt(), this.contentLimitEndsAt()) - this.clock.monotonic();
  }

  /** Returns the milliseconds until a silence is reported; infinite if it was reported, or if there is no listener. */
  private msUntilSilence(): number {
    if (this.options.listener === undefined || this.isSilent) return Infinity;
    return this.lastContentAt + this.silenceMs - this.clock.monotonic();
  }

  private reportSilence(): void {
    this.isSilent = true;
    const silentMs = Math.round(this.clock.monotonic() - this.lastContentAt);
    this.options.listener?.onSilence({ waitsFor: PHASES[this.phase].awaited, silentMs });
  }

  private reportResumed(): void {
    this.isSilent = false;
    this.silenceMs *= 2;
    this.deadline.cancel();
    this.deadline = this.scheduleCheck();
    this.options.listener?.onResumed();
  }

  /** Returns the time until which the server must send another byte. */
  private byteLimitEndsAt(): number {
    return this.lastByteAt + this.phaseLimitMs();
  }

  /** Returns the time until which the server must send content. */
  private contentLimitEndsAt(): number {
    return this.lastContentAt + Math.max(MAX_WITHOUT_CONTENT_MS, this.phaseLimitMs());
  }

  private phaseLimitMs(): number {
    return this.options.limits[PHASES[this.phase].field];
  }
}

function createTimeout(model: string, { phase, silentMs }: ExpiredLimit): ModelFailure {
  const { limit, text } = PHASES[phase];
  return {
    kind: 'timeout',
    message: `${model}: ${text} for ${formatDuration(silentMs)} (limit liveness.${limit}_seconds)`,
    retryable: true,
    limit,
  };
}
