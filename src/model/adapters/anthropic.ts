import { createAnthropic } from '@ai-sdk/anthropic';
import type { Dialect } from './dialect.ts';
import { AnthropicReader } from './readers/anthropic-reader.ts';
import { boundThinking } from './thinking.ts';
import { withEmptySignatures } from './unsigned-thinking.ts';

export { createAdapter } from './adapter.ts';

/** The limits stand before any text of the conversation, in which the same could stand. */
const LIMIT = /"max_tokens":\d+/;
const THINKING = /("thinking":\{"type":"enabled","budget_tokens":)(\d+)/;

/** For models of other vendors behind this protocol: the package would cap those at 4096. */
const FOREIGN_MODEL_MAX_OUTPUT = 32_000;

export const dialect: Dialect = {
  rules: {
    metaKey: 'anthropic',
    joinSystem: false,
    plainReasoning: false,
    cacheMarker: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    filesInResults: true,
    // "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'".
    acceptedIds: /^[a-zA-Z0-9_-]{1,64}$/,
    callsLast: true,
    // Arguments come checked by the server instead of raw: whole JSON, but for an answer cut short.
    toolOptions: { eagerInputStreaming: false },
  },
  /** No beta feature is used, and servers that only speak the protocol refuse unknown ones. */
  dropHeaders: ['anthropic-beta'],
  languageModel: (modelId, endpoint, fetch) =>
    createAnthropic({
      baseURL: endpoint.baseUrl,
      apiKey: endpoint.apiKey ?? '',
      fetch,
    }).languageModel(modelId),
  createReader: (answer) => new AnthropicReader(answer),
  providerOptions: () => ({}),
  withUnsignedThinking: (messages) => withEmptySignatures(messages, 'anthropic'),
  maxOutputTokens: (modelId) =>
    modelId.includes('claude-') ? undefined : FOREIGN_MODEL_MAX_OUTPUT,
  boundOutput: (body, maxOutputTokens) =>
    boundThinking(withLimit(body, maxOutputTokens), THINKING, maxOutputTokens),
};

/** Most bodies have it already, and need not be copied for it. */
function withLimit(body: string, maxOutputTokens: number): string {
  const limit = `"max_tokens":${maxOutputTokens}`;
  return LIMIT.exec(body)?.[0] === limit ? body : body.replace(LIMIT, limit);
}
