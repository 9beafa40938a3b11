import type {
  LanguageModelV4,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { deferred, onAbort } from '../../base/async.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import type { Effort } from '../../protocol/agent.ts';
import type { AttachmentRules } from '../../protocol/attachment.ts';
import { attachmentsOf } from '../../protocol/message.ts';
import {
  modelName,
  type ModelPart,
  type ModelRequest,
  type ResolvedModel,
  type Usage,
} from '../../protocol/model.ts';
import type { HttpFetch } from '../../sys/http-types.ts';
import { ANSWER_CAPS, WireMeter, type AnswerCaps, type AnswerTooLarge } from './answer-caps.ts';
import { Answer, BROKE_OFF, finalUsage } from './answer.ts';
import type { Dialect, Endpoint } from './dialect.ts';
import { Efforts, mayBeOfEffort } from './effort.ts';
import { BrokenOff, cancelled, toFailure, type FailureScope } from './failure.ts';
import { toCallOptions } from './prompt.ts';
import { endpointFetch, type WireObserver } from './endpoint-fetch.ts';
import type { ShownByPart } from './shown-files.ts';
import { WatchedResponse } from './watched-response.ts';
import { wellFormedJson } from './well-formed.ts';

export interface AdapterDeps {
  readonly fetch: HttpFetch;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** Of Muster, for the user agent. */
  readonly version: string;
  /** Default: `ANSWER_CAPS`. */
  readonly caps?: AnswerCaps;
  /** What a model takes of images and documents; null: nothing is known of it. Absent: none takes any. */
  attachments?(model: ResolvedModel): Promise<AttachmentRules | null>;
}

/** A ModelPort that tells what happens on the wire, for whoever watches its liveness. */
export interface WireModelPort {
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    observer?: WireObserver,
  ): AsyncIterable<ModelPart>;
}

/** How long the end of a body is read for after the answer's end, so that its connection is kept. */
const DRAIN_MS = 1000;
/** How long a broken answer is read on for the usage at its end. */
const USAGE_MS = 1000;
const ACCEPTED: ModelPart = { type: 'accepted' };

/** The ModelPort of one provider, over the package that speaks its protocol. */
export function createAdapter(
  dialect: Dialect,
  endpoint: Endpoint,
  deps: AdapterDeps,
): WireModelPort {
  const efforts = new Efforts();
  return {
    async *stream(request, signal, observer) {
      const progress: Progress = { accepted: false, excess: null };
      const scope = (): FailureScope => ({
        model: modelName({ provider: endpoint.name, id: request.model.id }),
        apiKey: endpoint.apiKey,
        accepted: progress.accepted,
        now: deps.clock.now(),
      });
      if (signal.aborted) {
        yield { type: 'failed', failure: cancelled(scope()) };
        return;
      }
      const left = [...efforts.tries(request)];
      for (;;) {
        const effort = left.shift() ?? null;
        try {
          const wiring = { dialect, endpoint, deps, progress, effort };
          yield* read(request, signal, observer, wiring);
          return;
        } catch (thrown) {
          const failure = signal.aborted
            ? cancelled(scope())
            : toFailure(progress.excess ?? thrown, scope());
          if (left.length > 0 && !progress.accepted && mayBeOfEffort(failure)) continue;
          const { usage, answer } = progress;
          yield {
            type: 'failed',
            failure,
            ...(usage === undefined ? {} : { usage }),
            ...(answer === undefined ? {} : { argumentCharacters: answer.argumentCharacters }),
          };
          return;
        } finally {
          // Here, since whoever reads the answer reads no further than its end.
          if (progress.accepted) efforts.learn(request, effort);
        }
      }
    },
  };
}

/** For both who reads an answer and who judges its failure. */
interface Progress {
  /** Whether the answer has begun. */
  accepted: boolean;
  /** What a broken one has used, where the server said so. */
  usage?: Usage;
  /** What has come of it. */
  answer?: Answer;
  /** More came than is taken: why it was given up. */
  excess: AnswerTooLarge | null;
}

interface Wiring {
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
  readonly deps: AdapterDeps;
  readonly progress: Progress;
  /** Null: none is sent. */
  readonly effort: Effort | null;
}

/** Ends with `finished` or throws what it failed with. */
async function* read(
  request: ModelRequest,
  signal: AbortSignal,
  observer: WireObserver | undefined,
  wiring: Wiring,
): AsyncGenerator<ModelPart, void, undefined> {
  const firstByte = deferred<'byte'>();
  const { progress } = wiring;
  const caps = wiring.deps.caps ?? ANSWER_CAPS;
  const ending = new AbortController();
  const release = onAbort(signal, () => ending.abort(signal.reason));
  const watch = new WatchedResponse(observer, {
    meter: new WireMeter(caps),
    onAnswer: () => firstByte.resolve('byte'),
    onExcess(excess) {
      progress.excess ??= excess;
      ending.abort(excess);
    },
  });
  const opening = open(connect(request, watch, wiring), request, ending.signal, wiring);
  let source: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | null = null;
  let ended = false;
  try {
    if ((await Promise.race([firstByte.promise, opening])) === 'byte') {
      progress.accepted = true;
      yield ACCEPTED;
    }
    source = (await opening).stream.getReader();
    const answer = new Answer(request.messages, caps);
    progress.answer = answer;
    for (;;) {
      const reading = source.read();
      if (!progress.accepted && (await Promise.race([firstByte.promise, reading])) === 'byte') {
        progress.accepted = true;
        yield ACCEPTED;
      }
      const { done, value } = await reading;
      if (done) throw watch.noStream ?? new BrokenOff(BROKE_OFF);
      const taken = answer.take(value);
      if (taken.type === 'nothing') continue;
      if (taken.type === 'error') {
        const usage = taken.usage ?? (await usageAtEnd(source, wiring.deps.deadlines));
        if (usage !== undefined) progress.usage = usage;
        throw watch.noStream ?? taken.error;
      }
      if (!progress.accepted) {
        progress.accepted = true;
        yield ACCEPTED;
      }
      if (taken.type === 'part') {
        const { part } = taken;
        if (observer === undefined) yield part;
        // Whoever watches the wire saw its bytes.
        else if (part.type === 'ping') continue;
        else if (observer.progressed === undefined) yield part;
        else observer.progressed(part);
        continue;
      }
      if (taken.type === 'arguments') {
        observer?.argumentsGrew?.();
        continue;
      }
      ended = true;
      drain(source, wiring.deps.deadlines);
      yield taken.finished;
      return;
    }
  } finally {
    release();
    if (!ended) abandon(opening, source);
  }
}

/** Made for each request, since the package ties the fetch, and so its observer, to the model. */
function connect(
  request: ModelRequest,
  watch: WatchedResponse,
  { dialect, endpoint, deps }: Wiring,
): LanguageModelV4 {
  const { maxOutputTokens } = request;
  const changes = {
    version: deps.version,
    dropHeaders: dialect.dropHeaders,
    adjustBody: (given: string) => {
      const body = wellFormedJson(given);
      if (maxOutputTokens === undefined) return body;
      return dialect.boundOutput?.(body, maxOutputTokens) ?? body;
    },
  };
  const fetch = endpointFetch(deps.fetch, endpoint, changes, watch);
  return dialect.languageModel(request.model.id, endpoint, fetch);
}

async function open(
  model: LanguageModelV4,
  request: ModelRequest,
  signal: AbortSignal,
  { dialect, effort, deps }: Wiring,
): Promise<LanguageModelV4StreamResult> {
  const shown = attachmentsOf(request.messages).length > 0 ? await shownBy(deps, request) : null;
  const maxOutputTokens = request.maxOutputTokens ?? dialect.maxOutputTokens?.(request.model.id);
  return model.doStream({
    ...toCallOptions(request, dialect.rules, shown),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(effort === null ? {} : { reasoning: effort }),
    providerOptions: dialect.providerOptions(request),
    abortSignal: signal,
  });
}

async function shownBy(deps: AdapterDeps, request: ModelRequest): Promise<ShownByPart> {
  const rules = (await deps.attachments?.(request.model)) ?? null;
  const { shownFiles } = await import('./shown-files.ts');
  return shownFiles(request, rules);
}

/** What a broken answer has used is said at its end, if that comes soon: it is charged all the same. */
async function usageAtEnd(
  source: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  deadlines: Deadlines,
): Promise<Usage | undefined> {
  const late = deferred<'late'>();
  const deadline = deadlines.after(USAGE_MS, () => late.resolve('late'));
  try {
    for (;;) {
      const next = await Promise.race([source.read(), late.promise]);
      if (next === 'late' || next.done) return undefined;
      const usage = finalUsage(next.value);
      if (usage !== undefined) return usage;
    }
  } catch {
    // It broke once more: what was wrong first is what is told.
    return undefined;
  } finally {
    deadline.cancel();
  }
}

/** A body that is read to its end leaves its connection for the next request. */
function drain(
  source: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  deadlines: Deadlines,
): void {
  const release = (): void => void source.cancel().catch(ignore);
  const deadline = deadlines.after(DRAIN_MS, release);
  const rest = async (): Promise<void> => {
    try {
      while (!(await source.read()).done);
    } finally {
      deadline.cancel();
    }
  };
  rest().catch(ignore);
}

/** Whoever reads no further wants the request ended. */
function abandon(
  opening: Promise<LanguageModelV4StreamResult>,
  source: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | null,
): void {
  if (source !== null) source.cancel().catch(ignore);
  else opening.then((result) => result.stream.cancel()).catch(ignore);
}

/** The answer is over, one way or another: what its connection says afterwards changes nothing. */
function ignore(): void {}
