import { createAnthropic } from '@ai-sdk/anthropic';
import type { ProtocolAdapter } from '../protocol-adapter.ts';
import { AnthropicReader } from './anthropic-reader.ts';
import { capThinkingBudget } from '../request/thinking-budget.ts';
import type { AssistantPart, Message } from '../../../protocol/message.ts';

/** Matches the output limit. Only the first match counts, because the conversation after it may contain the same text. */
const LIMIT = /"max_tokens":\d+/;
const THINKING = /("thinking":\{"type":"enabled","budget_tokens":)(\d+)/;

/** The output limit for models of other vendors, for which the package would send a limit of 4096. */
const OTHER_VENDOR_OUTPUT_LIMIT = 32_000;

/** Anthropic's Messages protocol. */
export const anthropicProtocol: ProtocolAdapter = {
  rules: {
    metaKey: 'anthropic',
    joinsSystemMessages: false,
    sendsReasoningWithoutMetadata: false,
    cacheMarker: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    acceptsFilesInResults: true,
    // "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'".
    acceptedCallIds: /^[a-zA-Z0-9_-]{1,64}$/,
    requiresCallsLast: true,
    // Without eager streaming, the server checks arguments before it sends them: they are complete JSON unless the
    // answer is cut off.
    toolOptions: { eagerInputStreaming: false },
  },
  // No beta feature is used, and other servers with this protocol refuse features that they do not know.
  omittedHeaders: ['anthropic-beta'],
  createLanguageModel: (modelId, { baseUrl: baseURL, apiKey }, fetch) =>
    createAnthropic({ baseURL, apiKey: apiKey ?? '', fetch }).languageModel(modelId),
  createReader: (answer) => new AnthropicReader(answer),
  loadSearch: async () => (await import('../provider-search.ts')).anthropicSearch,
  signUnsignedThinking: (messages) => addEmptySignatures(messages, 'anthropic'),
  findDefaultOutputLimit: (modelId) =>
    modelId.includes('claude-') ? undefined : OTHER_VENDOR_OUTPUT_LIMIT,
  setOutputLimit: (body, maxOutputTokens) =>
    capThinkingBudget(replaceLimit(body, maxOutputTokens), THINKING, maxOutputTokens),
};

/** Replaces the output limit in a body. Most bodies already contain the right limit and are not copied. */
function replaceLimit(body: string, maxOutputTokens: number): string {
  const limit = `"max_tokens":${maxOutputTokens}`;
  return LIMIT.exec(body)?.[0] === limit ? body : body.replace(LIMIT, limit);
}

/**
 * Adds an empty signature to thoughts without a signature. Some other servers with Anthropic's protocol do not sign their
 * thoughts but require them in later requests, and the provider package sends only thoughts with a signature.
 */
export function addEmptySignatures(messages: readonly Message[], metaKey: string): Message[] {
  const addSignature = (part: AssistantPart): AssistantPart => {
    const isUnsigned = part.type === 'reasoning' && part.meta === undefined;
    if (!isUnsigned || part.text.trim() === '') return part;
    return { ...part, meta: { [metaKey]: { signature: '' } } };
  };
  return messages.map((message) =>
    message.role === 'assistant'
      ? { ...message, content: message.content.map(addSignature) }
      : message,
  );
}
