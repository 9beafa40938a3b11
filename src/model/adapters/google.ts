import { createGoogle } from '@ai-sdk/google';
import type { Dialect } from './dialect.ts';

export const dialect: Dialect = {
  rules: {
    metaKey: 'google',
    joinSystem: false,
    plainReasoning: false,
    cacheMarker: null,
    forbiddenInIds: null,
  },
  dropHeaders: [],
  languageModel: (modelId, endpoint, fetch) =>
    createGoogle({
      baseURL: endpoint.baseUrl,
      apiKey: endpoint.apiKey ?? '',
      fetch,
    }).languageModel(modelId),
  providerOptions: () => ({}),
};
