import { deferred } from '../../../src/base/async.ts';
import type { LimiterSettings } from '../../../src/model/limiter/allowance.ts';
import { Limiter } from '../../../src/model/limiter/limiter.ts';
import type { Permit } from '../../../src/model/limiter/permit.ts';
import { userMessage } from '../../../src/protocol/message.ts';
import type {
  RequestPriority,
  ModelFailure,
  ModelPart,
  ModelRequest,
} from '../../../src/protocol/model.ts';
import { VirtualDeadlines, VirtualTime } from '../../engine/virtual-time.ts';

const never = new AbortController().signal;

export function ask(lane?: Partial<RequestPriority>): ModelRequest {
  return {
    model: { provider: 'fake', id: 'one', chain: [] },
    prefix: { system: [], tools: [] },
    messages: [userMessage('Hi')],
    toolChoice: 'auto',
    ...(lane === undefined ? {} : { priority: { tree: 'tree', background: false, ...lane } }),
  };
}

export function limited(retryAfterMs?: number): ModelFailure {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { kind: 'rate_limit', status: 429, message: 'slow down', retryable: true, ...wait };
}

/** A limiter in virtual time, with chance that says always the same unless told otherwise. */
export class LimiterWorld {
  readonly time = new VirtualTime();
  readonly deadlines = new VirtualDeadlines(this.time);
  readonly limiter: Limiter;

  constructor(settings: Partial<LimiterSettings> = {}, random: () => number = () => 0) {
    const { time: clock, deadlines } = this;
    this.limiter = new Limiter(
      { maxConcurrent: 64, requestsPerMinute: 0, ...settings },
      { clock, deadlines, random },
    );
  }

  get now(): number {
    return this.time.elapsedMs;
  }

  /** Lets a request go, whatever it has to wait for; `told` gets what it is told meanwhile. */
  async admit(
    request: ModelRequest,
    options: {
      readonly signal?: AbortSignal;
      readonly told?: (part: ModelPart) => void;
    } = {},
  ): Promise<Permit | null> {
    const { signal = never, told = () => {} } = options;
    const permit = this.limiter.enter(request);
    if (permit !== null) return permit;
    const waiting = this.limiter.wait(request, signal);
    for (;;) {
      const { done, value } = await waiting.next();
      if (done === true) return value;
      told(value);
    }
  }

  /** Runs it to its end while time passes. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    // Whoever awaits it below hears of it.
    done.catch(() => {});
    await this.time.pass(() => isDone);
    return done;
  }

  async passUntil(ms: number): Promise<void> {
    await this.run(this.time.sleep(ms - this.now));
  }
}

export interface ServerOptions {
  /** Requests that are answered at a time at that moment. */
  readonly lanes: (now: number) => number;
  readonly turnMs: number;
  readonly retryAfterMs: number;
  /** Of one way. */
  readonly latencyMs: () => number;
  /** Whether it comes as the headers do, or only with the end. */
  readonly isAcceptedEarly: boolean;
}

interface Arrival {
  readonly at: number;
  readonly isRefused: boolean;
}

/** A server that refuses what it has no lane for. */
export class LimitedServer {
  readonly arrivals: Arrival[] = [];
  private readonly world: LimiterWorld;
  private readonly options: ServerOptions;
  private atWork = 0;

  constructor(world: LimiterWorld, options: ServerOptions) {
    this.world = world;
    this.options = options;
  }

  /** Whether it was answered; sends it once. */
  async send(permit: Permit, { isRefused = false } = {}): Promise<boolean> {
    const { time, now: sentAt } = this.world;
    const { lanes, turnMs, retryAfterMs, latencyMs, isAcceptedEarly } = this.options;
    await time.sleep(latencyMs());
    const refused = isRefused || this.atWork >= lanes(this.world.now);
    this.arrivals.push({ at: sentAt, isRefused: refused });
    if (refused) {
      await time.sleep(latencyMs());
      permit.observe({ type: 'failed', failure: limited(retryAfterMs) });
      return false;
    }
    this.atWork += 1;
    const answered = deferred<void>();
    time.after(turnMs, () => {
      this.atWork -= 1;
      answered.resolve();
    });
    if (isAcceptedEarly) {
      await time.sleep(latencyMs());
      permit.observe({ type: 'accepted' });
    }
    await answered.promise;
    await time.sleep(latencyMs());
    if (!isAcceptedEarly) permit.observe({ type: 'accepted' });
    permit.end();
    return true;
  }

  /** A task of so many turns, each sent until it is answered. */
  async task(turns: number, lane: Partial<RequestPriority> = {}): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) {
      const request = ask(lane);
      for (let isAnswered = false; !isAnswered;) {
        const permit = await this.world.admit(request);
        if (permit === null) throw new Error('stopped');
        isAnswered = await this.send(permit);
      }
    }
  }

  refusedAfter(ms: number): number {
    return this.arrivals.filter(({ at, isRefused }) => isRefused && at >= ms).length;
  }

  sentAfter(ms: number): number {
    return this.arrivals.filter(({ at }) => at >= ms).length;
  }
}
