import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Dialect } from './dialect.ts';
import { ChatReader } from './readers/chat-reader.ts';

export { createAdapter } from './adapter.ts';

/** Fixed, since it is also the key of the package's options and metadata. */
const NAME = 'openaiCompatible';

export const dialect: Dialect = {
  rules: {
    metaKey: NAME,
    // Read by the package as the signature of the call alone.
    callMetaKey: 'google',
    joinSystem: true,
    plainReasoning: true,
    cacheMarker: null,
    filesInResults: false,
    // OpenAI: "string too long. Expected a string with maximum length 40".
    acceptedIds: /^[\x21-\x7e]{1,40}$/,
  },
  dropHeaders: [],
  languageModel: (modelId, endpoint, fetch) =>
    createOpenAICompatible({
      name: NAME,
      baseURL: endpoint.baseUrl,
      ...(endpoint.apiKey === null ? {} : { apiKey: endpoint.apiKey }),
      fetch,
      includeUsage: true,
    }).chatModel(modelId),
  createReader: (answer) => new ChatReader(answer),
  providerOptions: () => ({}),
};
