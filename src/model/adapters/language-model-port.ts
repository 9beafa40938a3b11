import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Clock } from '../../base/clock.ts';
import { isJsonObject } from '../../base/json.ts';
import type { LanguageModelObject } from '../../protocol/language-model.ts';
import { type ModelPart, type ModelRequest, modelName } from '../../protocol/model.ts';
import type { WireModelPort } from './adapter.ts';
import { AnswerBuilder } from './answers/answer-builder.ts';
import { ANSWER_CAPS } from './answers/answer-caps.ts';
import { LanguageModelReader } from './answers/language-model-reader.ts';
import { HttpStatusError, IncompleteAnswerError } from './errors/answer-errors.ts';
import {
  createCancelledFailure,
  toModelFailure,
  type FailureContext,
} from './errors/model-failure.ts';
import type { Endpoint, PromptRules } from './protocol-adapter.ts';
import { toCallOptions } from './request/call-options.ts';

/** The server of such models, which Muster does not know. Its address belongs to nobody (RFC 6761). */
const ENDPOINT: Endpoint = { name: 'own', baseUrl: 'http://own.invalid', apiKey: null };

/**
 * Creates the port to a model object of the AI SDK. The object sends the requests itself; Muster builds them and reads the
 * parts of its answers.
 */
export function createLanguageModelPort(
  model: LanguageModelObject,
  { clock }: { readonly clock: Clock },
): WireModelPort {
  const rules = createRules(model);
  return {
    async *stream(request, signal, observer) {
      const answer = new AnswerBuilder({
        history: request.messages,
        caps: ANSWER_CAPS,
        metaKey: rules.metaKey,
      });
      let isAnswering = false;
      try {
        const reader = new LanguageModelReader(answer, rules.metaKey);
        // The object connects to its server unseen, so the limit to the first token holds from the start.
        observer?.connected?.();
        for await (const part of await openStream(model, request, { rules, signal })) {
          yield isAnswering ? { type: 'ping' } : { type: 'accepted' };
          isAnswering = true;
          if (isJsonObject(part)) reader.takePart(part);
          const { parts, argumentsGrew } = answer.takeProgress();
          if (argumentsGrew) observer?.argumentsGrew?.();
          for (const progress of parts) {
            if (observer?.progressed === undefined) yield progress;
            else observer.progressed(progress);
          }
        }
        if (answer.failure !== null) throw answer.failure;
        if (answer.finishReason === null) throw new IncompleteAnswerError();
        yield answer.build();
      } catch (thrown) {
        const context: FailureContext = {
          model: modelName(request.model),
          server: ENDPOINT,
          isAnswering,
          now: clock.now(),
        };
        const { usageSoFar: usage, argumentCharacters } = answer;
        yield {
          type: 'failed',
          failure: signal.aborted
            ? createCancelledFailure(context)
            : toModelFailure(toStatusError(thrown), context),
          argumentCharacters,
          ...(usage === undefined ? {} : { usage }),
        } satisfies ModelPart;
      }
    },
  };
}

/** Creates the rules that fit every vendor, because the vendor behind a model object is not known. */
function createRules({ provider }: LanguageModelObject): PromptRules {
  // Packages name their models' provider `anthropic.messages`, and the metadata of parts `anthropic`.
  const [vendor = provider] = provider.split('.');
  return {
    metaKey: vendor,
    joinsSystemMessages: true,
    sendsReasoningWithoutMetadata: false,
    cacheMarker: null,
    acceptsFilesInResults: false,
    acceptedCallIds: /^[a-zA-Z0-9_-]{1,64}$/,
    requiresCallsLast: true,
  };
}

async function openStream(
  model: LanguageModelObject,
  request: ModelRequest,
  { rules, signal }: { readonly rules: PromptRules; readonly signal: AbortSignal },
): Promise<AsyncIterable<unknown>> {
  const { maxOutputTokens, effort } = request;
  const options: LanguageModelV4CallOptions = {
    // Without files, the messages of all versions of the interface have the same form.
    ...toCallOptions(request, rules),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(effort === undefined ? {} : { reasoning: effort }),
    abortSignal: signal,
  };
  // Each version of the interface has its own type for the options.
  const { stream } = await model.doStream(options as never);
  if (!isAsyncIterable(stream)) throw new Error('its doStream returned no stream of parts');
  return stream;
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}

/** Converts the error that the packages of the AI SDK throw for a refused request. Returns other errors unchanged. */
function toStatusError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('statusCode' in thrown)) return thrown;
  const { statusCode, message } = thrown;
  if (typeof statusCode !== 'number') return thrown;
  const responseBody =
    'responseBody' in thrown && typeof thrown.responseBody === 'string'
      ? thrown.responseBody
      : JSON.stringify({ error: { message } });
  const headers = 'responseHeaders' in thrown ? readHeaders(thrown.responseHeaders) : ({} as const);
  return new HttpStatusError(
    { url: ENDPOINT.baseUrl, status: statusCode, headers, responseBody, requestBody: '' },
    message,
  );
}

function readHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== 'object' || headers === null) return {};
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  );
}
