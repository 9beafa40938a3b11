import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Clock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import type { KeyReader } from '../../protocol/api-key.ts';
import type { AttachmentRules } from '../../protocol/attachment.ts';
import { attachmentsOf } from '../../protocol/message.ts';
import {
  type ModelPart,
  type ModelRequest,
  type ResolvedModel,
  modelName,
  type Effort,
} from '../../protocol/model.ts';
import type { AdjustmentName } from '../settings/adjustment-names.ts';
import { RequestAdjustments } from './adjust/request-adjustments.ts';
import { ANSWER_CAPS, type AnswerCaps } from './answers/answer-caps.ts';
import { EndpointKey } from './endpoint-key.ts';
import { IncompleteAnswerError, HttpStatusError } from './errors/answer-errors.ts';
import type { Endpoint, ProtocolAdapter } from './protocol-adapter.ts';
import { EffortFallbacks, mayBeEffortRefusal } from './adjust/efforts.ts';
import { type FailureContext, cancelledFailure, toModelFailure } from './errors/model-failure.ts';
import { OutputCaps } from './adjust/output-caps.ts';
import { toCallOptions } from './request/call-options.ts';
import { type AcceptedResponse, type WireObserver, sendRequest } from './send-request.ts';
import { AnswerBuilder } from './answers/answer-builder.ts';
import { readAnswerBody } from './answers/read-answer-body.ts';
import { BaseUrlProbe, type BaseUrlAttempt } from './adjust/base-url-probe.ts';
import type { FilesByPart } from './request/attached-files.ts';
import { replaceLoneSurrogates } from './request/well-formed-json.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';

/** The dependencies of an adapter. */
export interface AdapterDeps {
  readonly fetch: HttpFetch;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** The version of Muster, for the user-agent header. */
  readonly version: string;
  /** Reads keys that are not known from the start. Default: no provider has one. */
  readonly keys?: KeyReader;
  /** The limits on the size of an answer. Default: `ANSWER_CAPS`. */
  readonly caps?: AnswerCaps;
  /** Returns the rules for attachments of a model; null: they are not known. Default: no model accepts any. */
  attachments?(model: ResolvedModel): Promise<AttachmentRules | null>;
}

/** A ModelPort that reports what happens on the wire, so that its liveness can be watched. */
export interface WireModelPort {
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    observer?: WireObserver,
  ): AsyncIterable<ModelPart>;
}

/** The peculiarities of a server that its refusals have taught, so that they can be configured. */
export interface LearnedSettings {
  /** The base URL under which the server has its API. */
  readonly baseUrl: string;
  /** The adjustments that requests need, without those that were known from the start. */
  readonly omit: readonly AdjustmentName[];
  /** The highest output limit that the model accepts; null: it has refused none. */
  readonly outputCap: number | null;
  /** The efforts that the model has refused, each with the accepted one; null: none is sent. */
  readonly efforts: ReadonlyMap<Effort, Effort | null>;
}

/** The ModelPort of one provider, which remembers the peculiarities of its server. */
export interface Adapter extends WireModelPort {
  /** Returns the peculiarities that the requests so far have shown. `model`: the id of the model. */
  learned(model: string): LearnedSettings;
}

const ACCEPTED: ModelPart = { type: 'accepted' };

/**
 * Creates the ModelPort of one provider. The provider package of its protocol builds the requests, and our own
 * tolerant reader reads the answers (docs/decisions/0019). A request that the server refuses is sent again if it
 * can be changed so that the server may accept it.
 */
export function createAdapter(
  protocol: ProtocolAdapter,
  endpoint: Endpoint,
  deps: AdapterDeps,
): Adapter {
  const efforts = new EffortFallbacks();
  const outputCaps = new OutputCaps();
  const probe = new BaseUrlProbe(endpoint);
  const adjustments = new RequestAdjustments(endpoint.omit);
  return {
    learned: (model) => ({
      baseUrl: probe.baseUrl,
      omit: adjustments.learned,
      outputCap: outputCaps.capOf(model),
      efforts: efforts.replacements(model),
    }),
    async *stream(request, signal, observer) {
      const progress: Progress = { isAccepted: false, answer: null };
      const key = new EndpointKey(endpoint, deps.keys, { signal, observer });
      const failureContext = (): FailureContext => ({
        model: modelName({ provider: endpoint.name, id: request.model.id }),
        server: key.endpoint,
        isAnswering: progress.isAccepted,
        now: deps.clock.now(),
      });
      if (signal.aborted) {
        yield { type: 'failed', failure: cancelledFailure(failureContext()) };
        return;
      }
      const remainingEfforts = [...efforts.listAttempts(request)];
      let effort = remainingEfforts.shift() ?? null;
      for (;;) {
        const attempt = probe.attempt();
        try {
          await key.read();
          const access = { protocol, endpoint: key.endpoint, deps };
          const context = { ...access, progress, effort, adjustments, attempt };
          const defaultLimit = protocol.maxOutputTokens?.(request.model.id);
          yield* streamAnswer(outputCaps.limit(request, defaultLimit), signal, observer, context);
          return;
        } catch (error) {
          const judged = signal.aborted ? error : attempt.judgeFailure(error);
          const thrown = judged === null ? null : await key.renew(judged);
          if (thrown === null) continue;
          const failure = signal.aborted
            ? cancelledFailure(failureContext())
            : toModelFailure(thrown, failureContext());
          if (!signal.aborted && thrown instanceof HttpStatusError) {
            if (outputCaps.learn(request.model.id, thrown)) continue;
            if (adjustments.learn(request.model.id, thrown)) continue;
            const next = remainingEfforts.shift();
            if (next !== undefined && mayBeEffortRefusal(failure)) {
              effort = next;
              continue;
            }
          }
          yield { type: 'failed', failure, ...describePartialAnswer(progress.answer) };
          return;
        } finally {
          // This is in `finally`, since the consumer does not resume the generator after the last part.
          if (progress.isAccepted) efforts.learn(request, effort);
        }
      }
    },
  };
}

/** Returns the usage and the counts of the part of a failed answer that has come. */
function describePartialAnswer(answer: AnswerBuilder | null) {
  if (answer === null) return {};
  const { usageSoFar: usage, argumentCharacters, repairs } = answer;
  return {
    argumentCharacters,
    ...(usage === undefined ? {} : { usage }),
    ...(repairs === undefined ? {} : { repairs }),
  };
}

/** The progress of one request. */
interface Progress {
  /** True if the answer has begun. */
  isAccepted: boolean;
  /** The answer so far; null: it has not begun. */
  answer: AnswerBuilder | null;
}

/** The circumstances of one attempt to send a request. */
interface AttemptContext {
  readonly protocol: ProtocolAdapter;
  readonly endpoint: Endpoint;
  readonly deps: AdapterDeps;
  readonly progress: Progress;
  /** The effort that is sent; null: none. */
  readonly effort: Effort | null;
  readonly adjustments: RequestAdjustments;
  readonly attempt: BaseUrlAttempt;
}

/** Sends a request and yields the parts of its answer. Ends with `finished`, or throws the reason of the failure. */
async function* streamAnswer(
  request: ModelRequest,
  signal: AbortSignal,
  observer: WireObserver | undefined,
  context: AttemptContext,
): AsyncGenerator<ModelPart, void, undefined> {
  const { protocol, endpoint, deps, progress } = context;
  const caps = deps.caps ?? ANSWER_CAPS;
  const { body } = await send(request, signal, observer, context);
  if (body === null) throw new IncompleteAnswerError('the server sent no answer');
  const { metaKey } = protocol.rules;
  const answer = new AnswerBuilder({ history: request.messages, caps, metaKey });
  progress.answer = answer;
  const reader = protocol.createReader(answer);
  const { host } = new URL(endpoint.baseUrl);
  const reading = { body, host, reader, answer, caps, deadlines: deps.deadlines };
  for await (const _piece of readAnswerBody(reading)) {
    if (!progress.isAccepted) {
      progress.isAccepted = true;
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
  // A thinking tag at the very end of the text is decided only now.
  for (const part of answer.takeProgress().parts) {
    if (observer?.progressed === undefined) yield part;
    else observer.progressed(part);
  }
  yield finished;
}

/** Lets the provider package build the request, and takes the response before the package reads it. */
async function send(
  request: ModelRequest,
  signal: AbortSignal,
  observer: WireObserver | undefined,
  context: AttemptContext,
): Promise<AcceptedResponse> {
  const { protocol, endpoint, deps, adjustments, attempt } = context;
  let response = null as Promise<AcceptedResponse> | null;
  const sending = {
    fetch: deps.fetch,
    version: deps.version,
    endpoint,
    attempt,
    observer,
    dropHeaders: protocol.dropHeaders ?? [],
    adjustBody: (built: string) =>
      adjustments.apply(request.model.id, finishBody(built, request, protocol)),
  };
  const capture = async (url: string | URL | Request, init?: RequestInit): Promise<never> => {
    response = sendRequest(String(url), init ?? {}, sending);
    // The caller of `send` gets the rejection.
    await response.catch(() => {});
    // The package would read the response with its own schemas, which are stricter than many servers.
    throw new ResponseTaken();
  };
  const model = protocol.languageModel(request.model.id, endpoint, capture);
  try {
    const sentRequest = adjustments.isActive(request.model.id, 'calls_without_reasoning')
      ? signUnsignedThinking(request, protocol)
      : request;
    await model.doStream(await buildCallOptions(sentRequest, signal, context));
  } catch (thrown) {
    if (response === null) throw thrown;
  }
  if (response === null) throw new IncompleteAnswerError('no request was sent');
  return response;
}

function signUnsignedThinking(request: ModelRequest, protocol: ProtocolAdapter): ModelRequest {
  const messages = protocol.signUnsignedThinking?.(request.messages);
  return messages === undefined ? request : { ...request, messages };
}

/** The exception that stops the provider package after it has sent a request. */
class ResponseTaken extends Error {
  override readonly name = 'ResponseTaken';
}

function finishBody(
  built: string,
  { maxOutputTokens }: ModelRequest,
  protocol: ProtocolAdapter,
): string {
  const body = replaceLoneSurrogates(built);
  if (maxOutputTokens === undefined) return body;
  return protocol.limitOutput?.(body, maxOutputTokens) ?? body;
}

async function buildCallOptions(
  request: ModelRequest,
  signal: AbortSignal,
  { protocol, endpoint, effort, deps }: AttemptContext,
): Promise<LanguageModelV4CallOptions> {
  const files =
    attachmentsOf(request.messages).length > 0 ? await loadAttachedFiles(deps, request) : null;
  const rules = protocol.rulesOf?.(endpoint, request.model.id) ?? protocol.rules;
  const maxOutputTokens = request.maxOutputTokens ?? protocol.maxOutputTokens?.(request.model.id);
  return {
    ...toCallOptions(request, rules, files),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(effort === null ? {} : { reasoning: effort }),
    providerOptions: protocol.providerOptions?.(request) ?? {},
    abortSignal: signal,
  };
}

async function loadAttachedFiles(deps: AdapterDeps, request: ModelRequest): Promise<FilesByPart> {
  const rules = (await deps.attachments?.(request.model)) ?? null;
  const { collectAttachedFiles } = await import('./request/attached-files.ts');
  return collectAttachedFiles(request, rules);
}
