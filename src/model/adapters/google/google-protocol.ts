import { createGoogle } from '@ai-sdk/google';
import type { ProtocolAdapter } from '../protocol-adapter.ts';
import { GoogleReader } from './google-reader.ts';
import { capThinkingBudget } from '../request/thinking-budget.ts';

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
  languageModel: (modelId, endpoint, fetch) =>
    createGoogle({
      baseURL: endpoint.baseUrl,
      apiKey: endpoint.apiKey ?? '',
      fetch,
    }).languageModel(modelId),
  createReader: (answer) => new GoogleReader(answer),
  // The limit includes thinking in this protocol.
  limitOutput: (body, maxOutputTokens) => capThinkingBudget(body, THINKING, maxOutputTokens),
};
