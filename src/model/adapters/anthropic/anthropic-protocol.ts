import { createAnthropic } from '@ai-sdk/anthropic';
import type { ProtocolAdapter } from '../protocol-adapter.ts';
import { AnthropicReader } from './anthropic-reader.ts';
import { capThinkingBudget } from '../request/thinking-budget.ts';
import type { AssistantPart, Message } from '../../../protocol/message.ts';

/** The first match is the limit itself: it comes before the conversation, which may contain the same text. */
const LIMIT = /"max_tokens":\d+/;
const THINKING = /("thinking":\{"type":"enabled","budget_tokens":)(\d+)/;

/** The limit for models of other vendors, for which the package would send 4096. */
const FOREIGN_MAX_OUTPUT = 32_000;

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
    // The server then sends arguments that it has checked: complete JSON, unless the answer was cut off.
    toolOptions: { eagerInputStreaming: false },
  },
  /** No beta feature is used, and other servers with this protocol refuse unknown ones. */
  dropHeaders: ['anthropic-beta'],
  languageModel: (modelId, { baseUrl: baseURL, apiKey }, fetch) =>
    createAnthropic({ baseURL, apiKey: apiKey ?? '', fetch }).languageModel(modelId),
  createReader: (answer) => new AnthropicReader(answer),
  signUnsignedThinking: (messages) => addEmptySignatures(messages, 'anthropic'),
  maxOutputTokens: (modelId) => (modelId.includes('claude-') ? undefined : FOREIGN_MAX_OUTPUT),
  limitOutput: (body, maxOutputTokens) =>
    capThinkingBudget(replaceLimit(body, maxOutputTokens), THINKING, maxOutputTokens),
};

/** Replaces the limit in a body. Most bodies contain the right one, and are not copied. */
function replaceLimit(body: string, maxOutputTokens: number): string {
  const limit = `"max_tokens":${maxOutputTokens}`;
  return LIMIT.exec(body)?.[0] === limit ? body : body.replace(LIMIT, limit);
}

/**
 * Adds an empty signature to thoughts without one. Other servers with Anthropic's protocol sign nothing but
 * require their thoughts back, and the provider package sends only thoughts with a signature.
 */
export function addEmptySignatures(messages: readonly Message[], metaKey: string): Message[] {
  const signed = (part: AssistantPart): AssistantPart => {
    const isUnsigned = part.type === 'reasoning' && part.meta === undefined;
    if (!isUnsigned || part.text.trim() === '') return part;
    return { ...part, meta: { [metaKey]: { signature: '' } } };
  };
  return messages.map((message) =>
    message.role === 'assistant' ? { ...message, content: message.content.map(signed) } : message,
  );
}
