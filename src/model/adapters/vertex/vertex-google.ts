import { createGoogle } from '@ai-sdk/google';
import { googleProtocol } from '../google/google-protocol.ts';
import type { ProtocolAdapter } from '../protocol-adapter.ts';

/** Google's generateContent protocol on Vertex AI, which accepts no ids of calls. The package knows it by this name. */
export const vertexGoogleProtocol: ProtocolAdapter = {
  ...googleProtocol,
  createLanguageModel: (modelId, { baseUrl: baseURL, apiKey }, fetch) =>
    createGoogle({
      name: 'google.vertex.chat',
      baseURL,
      apiKey: apiKey ?? '',
      fetch,
    }).languageModel(modelId),
};
