import { hash } from 'node:crypto';
import { createOpenAI } from '@ai-sdk/openai';
import type { ProtocolAdapter } from '../protocol-adapter.ts';
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
  // The provider stores nothing, so the conversation contains the reasoning in encrypted form, which the package
  // requests for reasoning models. Summaries are not requested, because only verified organizations get them.
  createProviderOptions: (request) => ({
    openai: {
      store: false,
      reasoningSummary: null,
      ...(request.cacheKey === undefined ? {} : { promptCacheKey: toCacheKey(request.cacheKey) }),
    },
  }),
};

/** The maximum number of characters of a cache key. The API refuses requests with a longer key. */
const MAX_CACHE_KEY_LENGTH = 64;

/** Shortens a cache key that is too long. A key contains the name of an agent, whose length has no limit. */
function toCacheKey(key: string): string {
  return key.length <= MAX_CACHE_KEY_LENGTH ? key : hash('sha256', key);
}
