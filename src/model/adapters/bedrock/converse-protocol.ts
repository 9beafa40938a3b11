import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { capThinkingBudget } from '../request/thinking-budget.ts';
import type { PromptRules, ProtocolAdapter } from '../protocol-adapter.ts';
import { ConverseReader } from './converse-reader.ts';
import { decodeEventFrames } from './event-frames.ts';

const LIMIT = /("inferenceConfig":\{"maxTokens":)\d+/;
const THINKING = /("thinking":\{"type":"enabled","budget_tokens":)(\d+)/;

/** Matches the models that cache what is marked: https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html */
const CACHING = /(?:^|[./])(?:anthropic\.claude-|amazon\.nova-)/;

const RULES: PromptRules = {
  metaKey: 'amazonBedrock',
  joinsSystemMessages: false,
  sendsReasoningWithoutMetadata: false,
  cacheMarker: null,
  acceptsFilesInResults: false,
  acceptedCallIds: /^[a-zA-Z0-9_-]{1,64}$/,
  requiresCallsLast: true,
};
const CACHING_RULES: PromptRules = {
  ...RULES,
  cacheMarker: { amazonBedrock: { cachePoint: { type: 'default' } } },
};

/** Bedrock's Converse protocol, which is the same for the models of all vendors. */
export const converseProtocol: ProtocolAdapter = {
  rules: RULES,
  selectRules: (_endpoint, modelId) => (CACHING.test(modelId) ? CACHING_RULES : RULES),
  // With a key, the package does not sign the request itself: it is signed when its body is complete.
  createLanguageModel: (modelId, { baseUrl: baseURL }, fetch) =>
    createAmazonBedrock({ baseURL, apiKey: 'unused', fetch }).languageModel(modelId),
  createReader: (answer) => new ConverseReader(answer),
  setOutputLimit: (body, maxOutputTokens) =>
    capThinkingBudget(body.replace(LIMIT, `$1${maxOutputTokens}`), THINKING, maxOutputTokens),
  decodeBody: decodeEventFrames,
};
