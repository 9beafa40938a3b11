import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isGoogleHost } from '../../providers/vendors.ts';
import { createAdapter, type AdapterDeps, type WireModelPort } from '../adapter.ts';
import type { Endpoint, PromptRules, ProtocolAdapter } from '../protocol-adapter.ts';
import { ChatReader } from './chat-reader.ts';

/** Fixed, since it is also the key of the package's options and metadata. */
const NAME = 'openaiCompatible';

const RULES: PromptRules = {
  metaKey: NAME,
  // Read by the package as the signature of the call alone.
  callMetaKey: 'google',
  joinSystem: true,
  plainReasoning: true,
  cacheMarker: null,
  filesInResults: false,
  // OpenAI: "string too long. Expected a string with maximum length 40".
  acceptedIds: /^[\x21-\x7e]{1,40}$/,
};

/** Google's word for a signature that a client does not have. https://ai.google.dev/gemini-api/docs/thought-signatures */
const GOOGLE_RULES: PromptRules = {
  ...RULES,
  missingSignature: 'skip_thought_signature_validator',
};

/** Gemini since version 3, which takes no call without a signature; names without a version are of the newest. */
const NEEDS_SIGNATURES = /(?:^|\/)gemini-(?![12]\b|exp-|pro(?:-vision)?$)/;

/** OpenAI's Chat Completions protocol, which many other servers imitate. */
export const chatProtocol: ProtocolAdapter = {
  rules: RULES,
  rulesOf: ({ baseUrl }, modelId) =>
    isGoogleHost(baseUrl) && NEEDS_SIGNATURES.test(modelId) ? GOOGLE_RULES : RULES,
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

/** Creates the adapter of a provider that speaks OpenAI's Chat Completions protocol, which many other servers imitate. */
export function createChatAdapter(endpoint: Endpoint, deps: AdapterDeps): WireModelPort {
  return createAdapter(chatProtocol, endpoint, deps);
}
