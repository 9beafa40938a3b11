import { hash } from 'node:crypto';
import { createOpenAI } from '@ai-sdk/openai';
import type { JsonObject } from '../../../base/json.ts';
import { toolCalls } from '../../../protocol/message.ts';
import { type ModelRequest, modelName } from '../../../protocol/model.ts';
import { asObject, asObjects, asText } from '../answers/json-fields.ts';
import type { ProtocolAdapter } from '../protocol-adapter.ts';
import { writeFreeFormTools } from './free-form-calls.ts';
import { ResponsesReader } from './responses-reader.ts';

/** OpenAI's Responses protocol. */
export const responsesProtocol: ProtocolAdapter = {
  rules: {
    metaKey: 'openai',
    joinsSystemMessages: false,
    sendsReasoningWithoutMetadata: false,
    cacheMarker: null,
    acceptsFilesInResults: true,
    // https://platform.openai.com/docs/api-reference/responses/create: call_id has at most 64 characters.
    acceptedCallIds: /^[\x21-\x7e]{1,64}$/,
    reasoningContentKey: 'reasoningEncryptedContent',
    // The default of the API (true) would make every optional argument required.
    strictTools: false,
  },
  createLanguageModel: (modelId, { baseUrl: baseURL, apiKey }, fetch) =>
    createOpenAI({ baseURL, apiKey: apiKey ?? '', fetch }).responses(modelId),
  createReader: (answer) => new ResponsesReader(answer),
  loadSearch: async () => (await import('../provider-search.ts')).responsesSearch,
  finishBody: (body, request) => writeFreeFormTools(addCallSignatures(body, request), request),
  // The provider stores nothing, so reasoning is sent with the conversation in encrypted form (the package
  // requests that for models that reason). Summaries are available only to verified organizations.
  createProviderOptions: (request) => ({
    openai: {
      store: false,
      reasoningSummary: null,
      ...(request.cacheKey === undefined ? {} : { promptCacheKey: toCacheKey(request.cacheKey) }),
    },
  }),
};

/** Adds the signatures of thoughts to the calls in a body, which the package leaves out. */
function addCallSignatures(body: string, { model, messages }: ModelRequest): string {
  const signatures = new Map(
    messages.flatMap((message) =>
      message.role === 'assistant' && message.model === modelName(model)
        ? toolCalls(message).flatMap(({ id, meta }) => {
            const signature = asObject(meta?.['openai'])?.['thoughtSignature'];
            return typeof signature === 'string' ? [[id, signature] as const] : [];
          })
        : [],
    ),
  );
  if (signatures.size === 0) return body;
  const { input, ...rest }: JsonObject = JSON.parse(body);
  const sign = (item: JsonObject): JsonObject => {
    const signature = signatures.get(asText(item['call_id']) ?? '');
    const isSigned = item['type'] === 'function_call' && signature !== undefined;
    return isSigned ? { ...item, thought_signature: signature } : item;
  };
  return JSON.stringify({ ...rest, input: asObjects(input).map(sign) });
}

/** The maximum number of characters of a cache key. A request with a longer one is refused. */
const MAX_CACHE_KEY_LENGTH = 64;

/** Shortens a cache key that is too long. A key contains the name of an agent, whose length has no limit. */
function toCacheKey(key: string): string {
  return key.length <= MAX_CACHE_KEY_LENGTH ? key : hash('sha256', key);
}
