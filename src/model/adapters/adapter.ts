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
import type { JsonObject } from '../../base/json.ts';
import type { AdjustmentName } from '../settings/adjustment-names.ts';
import { RequestAdjustments } from './adjust/request-adjustments.ts';
import { ANSWER_CAPS, type AnswerCaps } from './answers/answer-caps.ts';
import { EndpointKey } from './endpoint-key.ts';
import { IncompleteAnswerError, HttpStatusError } from './errors/answer-errors.ts';
import type { Endpoint, ProtocolAdapter } from './protocol-adapter.ts';
import { addFields } from './adjust/body-changes.ts';
import { replaceModel } from './anthropic/cloud-body.ts';
import { EffortFallbacks, isPossibleEffortRefusal, type SentEffort } from './adjust/efforts.ts';
import {
  type FailureContext,
  createCancelledFailure,
  toModelFailure,
} from './errors/model-failure.ts';
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
  /** Returns the rules for attachments of a model; null: the rules are not known. Default: no model accepts attachments. */
  attachments?(model: ResolvedModel): Promise<AttachmentRules | null>;
}

/** A ModelPort that also reports the events of the connection, so that a watchdog can notice a silent server. */
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
 * Creates the ModelPort of one provider. The provider package of the protocol builds the requests. The answers are
 * read by Muster's own tolerant reader (docs/decisions/0019). If the server refuses a request, the request is changed
 * and sent again if a change is known that may make the server accept it.
 */
export function createAdapter(
  protocol: ProtocolAdapter,
  endpoint: Endpoint,
  deps: AdapterDeps,
): Adapter {
  const efforts = new EffortFallbacks(endpoint.quirks?.efforts);
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
      const createFailureContext = (): FailureContext => ({
        model: modelName({ provider: endpoint.name, id: request.model.id }),
        server: key.endpoint,
        isAnswering: progress.isAccepted,
        now: deps.clock.now(),
      });
      if (signal.aborted) {
        yield { type: 'failed', failure: createCancelledFailure(createFailureContext()) };
        return;
      }
      const remainingEfforts = [...efforts.listAttempts(request)];
      let effort = remainingEfforts.shift() ?? null;
      for (;;) {
        const attempt = probe.startAttempt();
        try {
          await key.read();
          const access = { protocol, endpoint: key.endpoint, deps };
          const context = { ...access, progress, effort, adjustments, attempt };
          const defaultLimit = findDefaultLimit(request, access);
          yield* streamAnswer(outputCaps.limit(request, defaultLimit), signal, observer, context);
          return;
        } catch (error) {
          const judged = signal.aborted ? error : attempt.judgeFailure(error);
          const thrown =
            judged === null || signal.aborted
              ? judged
              : await key.renew(judged, toModelFailure(judged, createFailureContext()));
          if (thrown === null) continue;
          const failure = signal.aborted
            ? createCancelledFailure(createFailureContext())
            : toModelFailure(thrown, createFailureContext());
          // The request is not the cause of a failure that may not come again.
          if (!signal.aborted && thrown instanceof HttpStatusError && !failure.retryable) {
            if (outputCaps.learn(request.model.id, thrown)) continue;
            if (adjustments.learn(request.model.id, thrown)) continue;
            const next = remainingEfforts.shift();
            if (next !== undefined && isPossibleEffortRefusal(failure)) {
              effort = next;
              continue;
            }
          }
          yield { type: 'failed', failure, ...describePartialAnswer(progress.answer) };
          return;
        } finally {
          // This must be in `finally`, because the consumer does not resume the generator after the last part.
          if (progress.isAccepted) efforts.learn(request, effort);
        }
      }
    },
  };
}

/** Returns the usage, the repairs and the length of the arguments in a failed answer, as far as the answer arrived. */
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
  /** The answer so far; null: the server has not responded. */
  answer: AnswerBuilder | null;
}

/** The values that one attempt to send a request needs. */
interface AttemptContext {
  readonly protocol: ProtocolAdapter;
  readonly endpoint: Endpoint;
  readonly deps: AdapterDeps;
  readonly progress: Progress;
  /** The effort that is sent; null: none. */
  readonly effort: SentEffort | null;
  readonly adjustments: RequestAdjustments;
  readonly attempt: BaseUrlAttempt;
  /** The fields that let the provider search the web. Default: none. */
  readonly searchFields?: JsonObject | undefined;
}

/** Sends a request and yields the parts of its answer. The last part is `finished`. Throws the cause of a failure. */
async function* streamAnswer(
  request: ModelRequest,
  signal: AbortSignal,
  observer: WireObserver | undefined,
  context: AttemptContext,
): AsyncGenerator<ModelPart, void, undefined> {
  const { protocol, endpoint, deps, progress } = context;
  const caps = deps.caps ?? ANSWER_CAPS;
  const { webSearch } = request;
  const search = webSearch === undefined ? undefined : await protocol.loadSearch?.();
  const fields = webSearch === undefined ? undefined : search?.buildFields(webSearch);
  const { body } = await send(request, signal, observer, { ...context, searchFields: fields });
  if (body === null) throw new IncompleteAnswerError('the server sent no answer');
  const { metaKey } = protocol.rules;
  const answer = new AnswerBuilder({ history: request.messages, caps, metaKey });
  progress.answer = answer;
  const plain = protocol.createReader(answer);
  const reader = search === undefined ? plain : search.collectSources(plain, answer);
  const { host } = new URL(endpoint.baseUrl);
  const events = protocol.decodeBody?.(body) ?? body;
  const options = { body: events, host, reader, answer, caps, deadlines: deps.deadlines };
  for await (const _piece of readAnswerBody(options)) {
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
  // Text at the end that could be the beginning of a thinking tag becomes part of the progress only now.
  for (const part of answer.takeProgress().parts) {
    if (observer?.progressed === undefined) yield part;
    else observer.progressed(part);
  }
  yield finished;
}

/** Lets the provider package build the request, sends it, and returns the response before the package can read it. */
async function send(
  request: ModelRequest,
  signal: AbortSignal,
  observer: WireObserver | undefined,
  context: AttemptContext,
): Promise<AcceptedResponse> {
  const { protocol, endpoint, deps, adjustments, attempt } = context;
  const fields = collectExtraFields(request, context);
  let response = null as Promise<AcceptedResponse> | null;
  const sendContext = {
    fetch: deps.fetch,
    version: deps.version,
    endpoint,
    attempt,
    observer,
    omittedHeaders: protocol.omittedHeaders ?? [],
    adjustBody: (built: string) =>
      adjustments.apply(request.model.id, finishBody(addFields(built, fields), request, context)),
  };
  const capture = async (url: string | URL | Request, init?: RequestInit): Promise<never> => {
    response = sendRequest(String(url), init ?? {}, sendContext);
    // A rejection is not handled here, because `send` returns this promise to its caller.
    await response.catch(() => {});
    // The package must not read the response, because many servers do not comply with its strict schemas.
    throw new ResponseTaken();
  };
  const model = protocol.createLanguageModel(request.model.id, endpoint, capture);
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

/** Collects the fields of a request that the provider package does not write. */
function collectExtraFields(
  { prefix }: ModelRequest,
  { endpoint: { quirks }, effort, searchFields }: AttemptContext,
): JsonObject {
  const ofTools = prefix.tools.length > 0 ? quirks?.bodyWithTools : undefined;
  return { ...quirks?.body, ...ofTools, ...effort?.fields, ...searchFields };
}

/** Returns the limit in tokens for an answer to a request that names none; undefined: the server's own limit holds. */
function findDefaultLimit(
  { model }: ModelRequest,
  { protocol, endpoint }: Pick<AttemptContext, 'protocol' | 'endpoint'>,
): number | undefined {
  return protocol.findDefaultOutputLimit?.(model.id) ?? endpoint.quirks?.outputLimit;
}

function finishBody(
  built: string,
  request: ModelRequest,
  { protocol, endpoint }: Pick<AttemptContext, 'protocol' | 'endpoint'>,
): string {
  const { maxOutputTokens } = request;
  const deployment = endpoint.cloud?.deployment;
  const written = replaceLoneSurrogates(built);
  const finished = protocol.finishBody?.(written, request) ?? written;
  const body = deployment === undefined ? finished : replaceModel(finished, deployment);
  if (maxOutputTokens === undefined) return body;
  return protocol.setOutputLimit?.(body, maxOutputTokens) ?? body;
}

async function buildCallOptions(
  request: ModelRequest,
  signal: AbortSignal,
  { protocol, endpoint, effort, deps }: AttemptContext,
): Promise<LanguageModelV4CallOptions> {
  const files =
    attachmentsOf(request.messages).length > 0 ? await loadAttachedFiles(deps, request) : null;
  const rules = protocol.selectRules?.(endpoint, request.model.id) ?? protocol.rules;
  const maxOutputTokens =
    request.maxOutputTokens ?? findDefaultLimit(request, { protocol, endpoint });
  return {
    ...toCallOptions(request, rules, files),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(effort === null || effort.fields !== null ? {} : { reasoning: effort.effort }),
    providerOptions: protocol.createProviderOptions?.(request) ?? {},
    abortSignal: signal,
  };
}

async function loadAttachedFiles(deps: AdapterDeps, request: ModelRequest): Promise<FilesByPart> {
  const rules = (await deps.attachments?.(request.model)) ?? null;
  const { collectAttachedFiles } = await import('./request/attached-files.ts');
  return collectAttachedFiles(request, rules);
}
