import type { AssistantPart, Message } from '../../protocol/message.ts';
import { NO_USAGE, type ModelRequest, type Usage } from '../../protocol/model.ts';

/** A rule of thumb for English and code; nothing is billed, so nothing better is needed. */
const CHARS_PER_TOKEN = 4;

/**
 * Estimated tokens. As with a provider that caches every prefix, what earlier requests of the same
 * conversation held counts as read from cache: `input` is what is new since the last answer.
 */
export function estimateUsage(request: ModelRequest, answer: readonly AssistantPart[]): Usage {
  const answered = request.messages.findLastIndex((message) => message.role === 'assistant') + 1;
  const prefix = JSON.stringify(request.prefix).length;
  const before = sizeOf(request.messages.slice(0, answered));
  const since = sizeOf(request.messages.slice(answered));
  const isFirst = answered === 0;
  return {
    ...NO_USAGE,
    input: tokens(isFirst ? prefix + since : since),
    cacheRead: tokens(isFirst ? 0 : prefix + before),
    output: tokens(JSON.stringify(answer).length),
  };
}

function sizeOf(messages: readonly Message[]): number {
  let chars = 0;
  for (const message of messages) {
    for (const part of message.content) {
      chars += part.type === 'tool_call' ? JSON.stringify(part.input).length : part.text.length;
    }
  }
  return chars;
}

function tokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
