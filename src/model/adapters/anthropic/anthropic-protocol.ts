import { createAnthropic } from '@ai-sdk/anthropic';
import { createAdapter, type AdapterDeps, type WireModelPort } from '../adapter.ts';
import type { Endpoint, ProtocolAdapter } from '../protocol-adapter.ts';
import { AnthropicReader } from './anthropic-reader.ts';
import { limitThinkingBudget } from '../request/thinking-budget.ts';
import type { AssistantPart, Message } from '../../../protocol/message.ts';

/** The limits stand before any text of the conversation, in which the same could stand. */
const LIMIT = /"max_tokens":\d+/;
const THINKING = /("thinking":\{"type":"enabled","budget_tokens":)(\d+)/;

/** For models of other vendors behind this protocol: the package would cap those at 4096. */
const FOREIGN_MODEL_MAX_OUTPUT = 32_000;

/** Anthropic's Messages protocol. */
export const anthropicProtocol: ProtocolAdapter = {
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
  signUnsignedThinking: (messages) => withEmptySignatures(messages, 'anthropic'),
  maxOutputTokens: (modelId) =>
    modelId.includes('claude-') ? undefined : FOREIGN_MODEL_MAX_OUTPUT,
  boundOutput: (body, maxOutputTokens) =>
    limitThinkingBudget(withLimit(body, maxOutputTokens), THINKING, maxOutputTokens),
};

/** Creates the adapter of a provider that speaks Anthropic's Messages protocol. */
export function createAnthropicAdapter(endpoint: Endpoint, deps: AdapterDeps): WireModelPort {
  return createAdapter(anthropicProtocol, endpoint, deps);
}

/** Most bodies have it already, and need not be copied for it. */
function withLimit(body: string, maxOutputTokens: number): string {
  const limit = `"max_tokens":${maxOutputTokens}`;
  return LIMIT.exec(body)?.[0] === limit ? body : body.replace(LIMIT, limit);
}

/**
 * Gives thoughts that came without a signature an empty one. Servers of other vendors behind the protocol of
 * Anthropic sign nothing and want their thoughts back all the same; the provider package sends only thoughts
 * that have a signature.
 */
export function withEmptySignatures(messages: readonly Message[], metaKey: string): Message[] {
  const signed = (part: AssistantPart): AssistantPart => {
    const isUnsigned = part.type === 'reasoning' && part.meta === undefined;
    if (!isUnsigned || part.text.trim() === '') return part;
    return { ...part, meta: { [metaKey]: { signature: '' } } };
  };
  return messages.map((message) =>
    message.role === 'assistant' ? { ...message, content: message.content.map(signed) } : message,
  );
}
