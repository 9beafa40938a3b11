import type { AssistantPart, Message } from '../../protocol/message.ts';

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
