import { onAbort } from '../base/async.ts';
import type { Clock } from '../base/clock.ts';
import type { Deadline, Deadlines } from '../base/deadlines.ts';
import { formatDuration } from '../base/text.ts';
import {
  modelName,
  type Awaited,
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

/** `[liveness]`, in milliseconds. */
export interface LivenessLimits {
  /** Until the connection is up and the request goes out. */
  readonly connectMs: number;
  /** From there to the first content. */
  readonly firstTokenMs: number;
  /** Between two events of the answer after that. */
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

/** A silence is told of after this; after each that was told, the next one after twice as long. */
const QUIET_MS = 3_000;

/** Signs of life without content are believed for this long. */
const LONGEST_WITHOUT_CONTENT_MS = 600_000;

export interface WatchdogDeps {
  readonly clock: Clock;
  /** Shared: one timer serves all streams of the process. */
  readonly deadlines: Deadlines;
  /** Lets requests go; what it holds is not watched yet. Default: all go at once. */
  readonly limiter?: Limiter;
}

type Limit = NonNullable<ModelFailure['limit']>;

/**
 * The same port, whose requests end with `failed` of kind `timeout` and the limit that ran out when
 * the server falls silent. Any byte from the server counts as life, and extends the limit that
 * stands; without content that ends after 600 s, or after the first-token limit where it is longer.
 */
export function withWatchdog(
  port: WireModelPort,
  limits: LivenessLimits,
  deps: WatchdogDeps,
): ModelPort {
  const { limiter } = deps;
  return {
    // One generator for both: each that parts pass through costs with each of them.
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
        ...(listener === undefined ? {} : { listener }),
        end: () => controller.abort(),
      });
      try {
        for await (const part of port.stream(request, controller.signal, watch)) {
          watch.saw(part);
          permit?.saw(part);
          yield part.type === 'failed' && watch.expired !== null
            ? { ...part, failure: timeout(modelName(request.model), watch.expired) }
            : part;
        }
      } finally {
        watch.stop();
        permit?.leave();
        release();
      }
    },
  };
}

/** The limit that ran out, and for how long nothing had come, or nothing but pings. */
interface Expired {
  readonly limit: Limit;
  readonly silentMs: number;
}

type Phase = 'connecting' | 'waiting' | 'streaming';

const LIMIT_OF: Readonly<Record<Phase, Limit>> = {
  connecting: 'connect',
  waiting: 'first_token',
  streaming: 'stream_idle',
};

const AWAITED: Readonly<Record<Phase, Awaited>> = {
  connecting: 'connection',
  waiting: 'first_token',
  streaming: 'next_event',
};

interface WatchParts {
  readonly limits: LivenessLimits;
  readonly deps: WatchdogDeps;
  readonly permit: Permit | null;
  readonly listener?: AnswerListener;
  readonly end: () => void;
}

/** One request's liveness. Life only moves a number: the deadline is looked at when it falls due. */
class Watch implements WireObserver {
  expired: Expired | null = null;
  private phase: Phase = 'connecting';
  private lastLife: number;
  private lastContent: number;
  private deadline: Deadline;
  /** When that falls due. */
  private lookAt = Infinity;
  private isOver = false;
  private readonly limits: LivenessLimits;
  private readonly deps: WatchdogDeps;
  private readonly permit: Permit | null;
  private readonly listener: AnswerListener | null;
  /** Absent: they are to be parts of the stream. */
  readonly progressed: ((part: ProgressPart) => void) | undefined;
  private isQuiet = false;
  private quietMs = QUIET_MS;
  private readonly end: () => void;

  constructor({ limits, deps, permit, listener, end }: WatchParts) {
    this.limits = limits;
    this.deps = deps;
    this.permit = permit;
    this.listener = listener ?? null;
    if (listener !== undefined) {
      this.progressed = (part) => {
        this.contentCame();
        listener.progressed(part);
      };
    }
    this.end = end;
    this.lastLife = deps.clock.monotonic();
    this.lastContent = this.lastLife;
    this.deadline = this.nextLook();
  }

  connected(): void {
    if (this.phase === 'connecting') this.enter('waiting');
  }

  responded(headers: ResponseHeaders): void {
    this.permit?.responded(headers);
  }

  bytes(): void {
    this.lastLife = this.deps.clock.monotonic();
  }

  argumentsGrew(): void {
    this.contentCame();
  }

  private contentCame(): void {
    if (this.phase !== 'streaming') this.enter('streaming');
    this.lastLife = this.deps.clock.monotonic();
    this.lastContent = this.lastLife;
    if (this.isQuiet) this.flow();
  }

  saw(part: ModelPart): void {
    switch (part.type) {
      case 'text_delta':
      case 'reasoning_delta':
      case 'tool_call_started':
        this.contentCame();
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
    this.isOver = true;
    this.deadline.cancel();
  }

  private enter(phase: Phase): void {
    // A connection may come up after its request was given up: nobody would cancel a new deadline.
    if (this.isOver) return;
    this.phase = phase;
    this.lastLife = this.deps.clock.monotonic();
    this.lastContent = this.lastLife;
    // One that falls due earlier finds how much is left, and looks again: most answers are over by then.
    if (this.dueIn() + this.lastLife < this.lookAt) {
      this.deadline.cancel();
      this.deadline = this.nextLook();
    }
    if (this.isQuiet && phase !== 'streaming') this.tellQuiet();
  }

  private nextLook(): Deadline {
    const ms = this.dueIn();
    this.lookAt = this.deps.clock.monotonic() + ms;
    return this.deps.deadlines.after(ms, () => this.look());
  }

  private dueIn(): number {
    return Math.min(this.left(), this.untilQuiet());
  }

  private look(): void {
    const left = this.left();
    if (left > 0) {
      if (this.untilQuiet() <= 0) this.tellQuiet();
      this.deadline = this.nextLook();
      return;
    }
    const limit = LIMIT_OF[this.phase];
    const onlyPings = this.lastLife > this.lastContent && this.lifeEnds() > this.contentEnds();
    const since = onlyPings ? this.lastContent : this.lastLife;
    this.expired = { limit, silentMs: this.deps.clock.monotonic() - since };
    this.end();
  }

  /** Milliseconds until the limit of the phase runs out, if nothing more comes. */
  private left(): number {
    return Math.min(this.lifeEnds(), this.contentEnds()) - this.deps.clock.monotonic();
  }

  /** Milliseconds until a silence is to be told of; infinite: it is, or nobody hears. */
  private untilQuiet(): number {
    if (this.listener === null || this.isQuiet) return Infinity;
    return this.lastContent + this.quietMs - this.deps.clock.monotonic();
  }

  private tellQuiet(): void {
    this.isQuiet = true;
    const silentMs = Math.round(this.deps.clock.monotonic() - this.lastContent);
    this.listener?.quiet({ waitsFor: AWAITED[this.phase], silentMs });
  }

  private flow(): void {
    this.isQuiet = false;
    this.quietMs *= 2;
    this.deadline.cancel();
    this.deadline = this.nextLook();
    this.listener?.flowing();
  }

  private lifeEnds(): number {
    return this.lastLife + limitMs(LIMIT_OF[this.phase], this.limits);
  }

  private contentEnds(): number {
    const limit = limitMs(LIMIT_OF[this.phase], this.limits);
    return this.lastContent + Math.max(LONGEST_WITHOUT_CONTENT_MS, limit);
  }
}

function limitMs(limit: Limit, limits: LivenessLimits): number {
  switch (limit) {
    case 'connect':
      return limits.connectMs;
    case 'first_token':
      return limits.firstTokenMs;
    case 'stream_idle':
      return limits.streamIdleMs;
  }
}

const WORDS: Readonly<Record<Limit, { readonly what: string; readonly key: string }>> = {
  connect: { what: 'no connection', key: 'connect_seconds' },
  first_token: { what: 'no first token', key: 'first_token_seconds' },
  stream_idle: { what: 'the stream fell silent', key: 'stream_idle_seconds' },
};

function timeout(model: string, { limit, silentMs }: Expired): ModelFailure {
  const { what, key } = WORDS[limit];
  return {
    kind: 'timeout',
    message: `${model}: ${what} for ${formatDuration(silentMs)} (limit liveness.${key})`,
    retryable: true,
    limit,
  };
}
