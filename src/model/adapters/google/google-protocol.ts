import { createGoogle } from '@ai-sdk/google';
import { createAdapter, type AdapterDeps, type WireModelPort } from '../adapter.ts';
import type { Endpoint, ProtocolAdapter } from '../protocol-adapter.ts';
import { GoogleReader } from './google-reader.ts';
import { limitThinkingBudget } from '../request/thinking-budget.ts';

const THINKING = /("thinkingConfig":\{"thinkingBudget":)(\d+)/;

/** Google's generateContent protocol. */
export const googleProtocol: ProtocolAdapter = {
  rules: {
    metaKey: 'google',
    joinSystem: false,
    plainReasoning: false,
    cacheMarker: null,
    filesInResults: true,
    acceptedIds: /^[\x21-\x7e]{1,64}$/,
    signsBlankText: true,
  },
  dropHeaders: [],
  languageModel: (modelId, endpoint, fetch) =>
    createGoogle({
      baseURL: endpoint.baseUrl,
      apiKey: endpoint.apiKey ?? '',
      fetch,
    }).languageModel(modelId),
  createReader: (answer) => new GoogleReader(answer),
  providerOptions: () => ({}),
  // What it thinks counts in the limit here.
  boundOutput: (body, maxOutputTokens) => limitThinkingBudget(body, THINKING, maxOutputTokens),
};

/** Creates the adapter of a provider that speaks Google's generateContent protocol. */
export function createGoogleAdapter(endpoint: Endpoint, deps: AdapterDeps): WireModelPort {
  return createAdapter(googleProtocol, endpoint, deps);
}
