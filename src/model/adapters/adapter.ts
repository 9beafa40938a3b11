import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
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
} from '../../protocol/model.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import { Adjustments } from './adjustments.ts';
import { ANSWER_CAPS, type AnswerCaps } from './answer-caps.ts';
import { BrokenOff, Refusal } from './answer-errors.ts';
import type { AskedServer } from './asked-server.ts';
import type { Dialect } from './dialect.ts';
import { Efforts, mayBeOfEffort } from './effort.ts';
import { cancelled, toFailure, type FailureScope } from './failure.ts';
import { OutputCaps } from './output-cap.ts';
import { toCallOptions } from './prompt.ts';
import { endpointFetch, type AcceptedResponse, type WireObserver } from './endpoint-fetch.ts';
import { AnswerBuilder } from './readers/answer-builder.ts';
import { readAnswer } from './readers/read-answer.ts';
import { BaseUrlProbe, type ProbeAttempt } from './base-url-probe.ts';
import type { ShownByPart } from './shown-files.ts';
import { wellFormedJson } from './well-formed.ts';

export interface AdapterDeps {
  readonly fetch: HttpFetch;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** The version of Muster, for the user agent. */
  readonly version: string;
  /** Default: `ANSWER_CAPS`. */
  readonly caps?: AnswerCaps;
  /** Returns the images and documents that a model takes; null: not known. Absent: no model takes any. */
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

const ACCEPTED: ModelPart = { type: 'accepted' };

/**
 * The ModelPort of one provider. The package that speaks its protocol builds the requests; the answers are
 * read by a tolerant reader of our own (docs/decisions/0019).
 */
export function createAdapter(
  dialect: Dialect,
  endpoint: AskedServer,
  deps: AdapterDeps,
): WireModelPort {
  const efforts = new Efforts();
  const outputCaps = new OutputCaps();
  const probe = new BaseUrlProbe(endpoint);
  const adjustments = new Adjustments(endpoint.baseUrl, endpoint.omit);
  return {
    async *stream(request, signal, observer) {
      const progress: Progress = { accepted: false, answer: null };
      const scope = (): FailureScope => ({
        model: modelName({ provider: endpoint.name, id: request.model.id }),
        server: endpoint,
        accepted: progress.accepted,
        now: deps.clock.now(),
      });
      if (signal.aborted) {
        yield { type: 'failed', failure: cancelled(scope()) };
        return;
      }
      const remainingEfforts = [...efforts.tries(request)];
      let effort = remainingEfforts.shift() ?? null;
      for (;;) {
        const attempt = probe.attempt();
        try {
          const wiring = { dialect, endpoint, deps, progress, effort, adjustments, attempt };
          const usual = dialect.maxOutputTokens?.(request.model.id);
          yield* read(outputCaps.bounded(request, usual), signal, observer, wiring);
          return;
        } catch (error) {
          const thrown = signal.aborted ? error : attempt.failedWith(error);
          if (thrown === null) continue;
          const failure = signal.aborted ? cancelled(scope()) : toFailure(thrown, scope());
          if (!signal.aborted && thrown instanceof Refusal) {
            if (outputCaps.learn(request.model.id, thrown)) continue;
            if (adjustments.learn(request.model.id, thrown)) continue;
            const next = remainingEfforts.shift();
            if (next !== undefined && mayBeOfEffort(failure)) {
              effort = next;
              continue;
            }
          }
          yield { type: 'failed', failure, ...cameBefore(progress.answer) };
          return;
        } finally {
          // Here, since whoever reads the answer reads no further than its end.
          if (progress.accepted) efforts.learn(request, effort);
        }
      }
    },
  };
}

/** Returns the usage of a failed answer, and the counts of the part of it that came. */
function cameBefore(answer: AnswerBuilder | null) {
  if (answer === null) return {};
  const { usageSoFar: usage, argumentCharacters, repairs } = answer;
  return {
    argumentCharacters,
    ...(usage === undefined ? {} : { usage }),
    ...(repairs === undefined ? {} : { repairs }),
  };
}

/** How far a request has come, for its reader and for whoever judges its failure. */
interface Progress {
  /** Whether the answer has begun. */
  accepted: boolean;
  /** The answer as far as it has come; null: it has not begun. */
  answer: AnswerBuilder | null;
}

interface Wiring {
  readonly dialect: Dialect;
  readonly endpoint: AskedServer;
  readonly deps: AdapterDeps;
  readonly progress: Progress;
  /** The effort that is sent; null: none. */
  readonly effort: Effort | null;
  readonly adjustments: Adjustments;
  readonly attempt: ProbeAttempt;
}

/** Ends with `finished` or throws what it failed with. */
async function* read(
  request: ModelRequest,
  signal: AbortSignal,
  observer: WireObserver | undefined,
  wiring: Wiring,
): AsyncGenerator<ModelPart, void, undefined> {
  const { dialect, endpoint, deps, progress } = wiring;
  const caps = deps.caps ?? ANSWER_CAPS;
  const { body } = await send(request, signal, observer, wiring);
  if (body === null) throw new BrokenOff('the server sent no answer');
  const { metaKey } = dialect.rules;
  const answer = new AnswerBuilder({ history: request.messages, caps, metaKey });
  progress.answer = answer;
  const reader = dialect.createReader(answer);
  const { host } = new URL(endpoint.baseUrl);
  const reading = { body, host, reader, answer, caps, deadlines: deps.deadlines };
  for await (const _piece of readAnswer(reading)) {
    if (!progress.accepted) {
      progress.accepted = true;
      yield ACCEPTED;
    }
    const { parts, argumentsGrew } = answer.takeProgress();
    if (argumentsGrew) observer?.argumentsGrew?.();
    for (const part of parts) {
      if (observer?.progressed === undefined) yield part;
      else observer.progressed(part);
    }
  }
  const finished = answer.build();
  // A tag that the text ended in the middle of is decided only now.
  for (const part of answer.takeProgress().parts) {
    if (observer?.progressed === undefined) yield part;
    else observer.progressed(part);
  }
  yield finished;
}

/** Has the package build the request, and takes the response for ourselves. */
async function send(
  request: ModelRequest,
  signal: AbortSignal,
  observer: WireObserver | undefined,
  { dialect, endpoint, effort, deps, adjustments, attempt }: Wiring,
): Promise<AcceptedResponse> {
  let outcome: { readonly response: AcceptedResponse } | { readonly error: unknown } | null = null;
  const ask = endpointFetch(
    deps.fetch,
    endpoint,
    {
      attempt,
      version: deps.version,
      dropHeaders: dialect.dropHeaders,
      adjustBody: (given) => adjustments.apply(request.model.id, bodyOf(given, request, dialect)),
    },
    observer,
  );
  const capture = async (url: string | URL | Request, init?: RequestInit): Promise<never> => {
    try {
      outcome = { response: await ask(String(url), init) };
    } catch (thrown) {
      outcome = { error: thrown };
    }
    // The package would read the response by its own schemas, which are stricter than the servers are.
    throw new ResponseTaken();
  };
  const model = dialect.languageModel(request.model.id, endpoint, capture);
  try {
    const asked = adjustments.isMade(request.model.id, 'calls_without_reasoning')
      ? withUnsignedThinking(request, dialect)
      : request;
    await model.doStream(await callOptions(asked, signal, { dialect, endpoint, effort, deps }));
  } catch (thrown) {
    if (outcome === null) throw thrown;
  }
  return responseOf(outcome);
}

function withUnsignedThinking(request: ModelRequest, dialect: Dialect): ModelRequest {
  const messages = dialect.withUnsignedThinking?.(request.messages);
  return messages === undefined ? request : { ...request, messages };
}

/** Ends the package's part of a request. */
class ResponseTaken extends Error {
  override readonly name = 'ResponseTaken';
}

function responseOf(
  outcome: { readonly response: AcceptedResponse } | { readonly error: unknown } | null,
): AcceptedResponse {
  if (outcome === null) throw new BrokenOff('no request was sent');
  if ('error' in outcome) throw outcome.error;
  return outcome.response;
}

function bodyOf(given: string, { maxOutputTokens }: ModelRequest, dialect: Dialect): string {
  const body = wellFormedJson(given);
  if (maxOutputTokens === undefined) return body;
  return dialect.boundOutput?.(body, maxOutputTokens) ?? body;
}

async function callOptions(
  request: ModelRequest,
  signal: AbortSignal,
  { dialect, endpoint, effort, deps }: Pick<Wiring, 'dialect' | 'endpoint' | 'effort' | 'deps'>,
): Promise<LanguageModelV4CallOptions> {
  const shown = attachmentsOf(request.messages).length > 0 ? await shownBy(deps, request) : null;
  const rules = dialect.rulesOf?.(endpoint, request.model.id) ?? dialect.rules;
  const maxOutputTokens = request.maxOutputTokens ?? dialect.maxOutputTokens?.(request.model.id);
  return {
    ...toCallOptions(request, rules, shown),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(effort === null ? {} : { reasoning: effort }),
    providerOptions: dialect.providerOptions(request),
    abortSignal: signal,
  };
}

async function shownBy(deps: AdapterDeps, request: ModelRequest): Promise<ShownByPart> {
  const rules = (await deps.attachments?.(request.model)) ?? null;
  const { shownFiles } = await import('./shown-files.ts');
  return shownFiles(request, rules);
}
