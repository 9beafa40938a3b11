import { createGoogle } from '@ai-sdk/google';
import type { Dialect } from './dialect.ts';
import { GoogleReader } from './readers/google-reader.ts';
import { boundThinking } from './thinking.ts';

export { createAdapter } from './adapter.ts';

const THINKING = /("thinkingConfig":\{"thinkingBudget":)(\d+)/;

export const dialect: Dialect = {
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
  boundOutput: (body, maxOutputTokens) => boundThinking(body, THINKING, maxOutputTokens),
};
