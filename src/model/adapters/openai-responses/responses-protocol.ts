import { hash } from 'node:crypto';
import { createOpenAI } from '@ai-sdk/openai';
import { createAdapter, type AdapterDeps, type WireModelPort } from '../adapter.ts';
import type { Endpoint, ProtocolAdapter } from '../protocol-adapter.ts';
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
  dropHeaders: [],
  languageModel: (modelId, endpoint, fetch) =>
    createOpenAI({
      baseURL: endpoint.baseUrl,
      apiKey: endpoint.apiKey ?? '',
      fetch,
    }).responses(modelId),
  createReader: (answer) => new ResponsesReader(answer),
  // Nothing is kept at the provider, so reasoning travels encrypted with the conversation (the
  // package asks for that itself for models that reason). Summaries take a verified organisation.
  providerOptions: (request) => ({
    openai: {
      store: false,
      reasoningSummary: null,
      ...(request.cacheKey === undefined ? {} : { promptCacheKey: cacheKey(request.cacheKey) }),
    },
  }),
};

/** Creates the adapter of a provider that speaks OpenAI's Responses protocol. */
export function createResponsesAdapter(endpoint: Endpoint, deps: AdapterDeps): WireModelPort {
  return createAdapter(responsesProtocol, endpoint, deps);
}

/** Characters: a request with a longer one is refused. */
const LONGEST_CACHE_KEY = 64;

/** The name of an agent type, which is part of it, has no limit. */
function cacheKey(key: string): string {
  return key.length <= LONGEST_CACHE_KEY ? key : hash('sha256', key);
}
