import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isGoogleHost } from '../../providers/vendors.ts';
import type { PromptRules, ProtocolAdapter } from '../protocol-adapter.ts';
import { ChatReader } from './chat-reader.ts';

/** The provider name for the package. It is fixed, since it is also the key of the package's metadata. */
const NAME = 'openaiCompatible';

const RULES: PromptRules = {
  metaKey: NAME,
  // The package reads only the signature of the call under this key.
  callMetaKey: 'google',
  joinSystem: true,
  plainReasoning: true,
  cacheMarker: null,
  filesInResults: false,
  // OpenAI: "string too long. Expected a string with maximum length 40".
  acceptedIds: /^[\x21-\x7e]{1,40}$/,
};

/** The rules for Google, which defines a signature for calls without one: https://ai.google.dev/gemini-api/docs/thought-signatures */
const GOOGLE_RULES: PromptRules = {
  ...RULES,
  missingSignature: 'skip_thought_signature_validator',
};

/** Matches Gemini from version 3 on, which accepts no call without a signature, and names without a version. */
const NEEDS_SIGNATURES = /(?:^|\/)gemini-(?![12]\b|exp-|pro(?:-vision)?$)/;

/** OpenAI's Chat Completions protocol, which many other servers imitate. */
export const chatProtocol: ProtocolAdapter = {
  rules: RULES,
  rulesOf: ({ baseUrl }, modelId) =>
    isGoogleHost(baseUrl) && NEEDS_SIGNATURES.test(modelId) ? GOOGLE_RULES : RULES,
  languageModel: (modelId, endpoint, fetch) =>
    createOpenAICompatible({
      name: NAME,
      baseURL: endpoint.baseUrl,
      ...(endpoint.apiKey === null ? {} : { apiKey: endpoint.apiKey }),
      fetch,
      includeUsage: true,
    }).chatModel(modelId),
  createReader: (answer) => new ChatReader(answer),
};
