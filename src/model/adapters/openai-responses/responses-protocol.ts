import { hash } from 'node:crypto';
import { createOpenAI } from '@ai-sdk/openai';
import type { ProtocolAdapter } from '../protocol-adapter.ts';
import { ResponsesReader } from './responses-reader.ts';

/** OpenAI's Responses protocol. */
export const responsesProtocol: ProtocolAdapter = {
  rules: {
    metaKey: 'openai',
    joinSystem: false,
    plainReasoning: false,
    cacheMarker: null,
    filesInResults: true,
    // https://platform.openai.com/docs/api-reference/responses/create: call_id has at most 64 characters.
    acceptedIds: /^[\x21-\x7e]{1,64}$/,
    reasoningContentKey: 'reasoningEncryptedContent',
    // The API's default makes every optional argument required.
    strictTools: false,
  },
  languageModel: (modelId, { baseUrl: baseURL, apiKey }, fetch) =>
    createOpenAI({ baseURL, apiKey: apiKey ?? '', fetch }).responses(modelId),
  createReader: (answer) => new ResponsesReader(answer),
  // The provider stores nothing, so reasoning is sent with the conversation in encrypted form (the package
  // requests that for models that reason). Summaries are available only to verified organizations.
  providerOptions: (request) => ({
    openai: {
      store: false,
      reasoningSummary: null,
      ...(request.cacheKey === undefined ? {} : { promptCacheKey: toCacheKey(request.cacheKey) }),
    },
  }),
};

/** The maximum number of characters of a cache key. A request with a longer one is refused. */
const MAX_CACHE_KEY_LENGTH = 64;

/** Shortens a cache key that is too long, since it contains the name of an agent, which has no limit. */
function toCacheKey(key: string): string {
  return key.length <= MAX_CACHE_KEY_LENGTH ? key : hash('sha256', key);
}
