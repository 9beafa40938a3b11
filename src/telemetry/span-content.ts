import type { JsonObject, JsonValue } from '../base/json.ts';
import { toSpanName } from './span-texts.ts';
import type { AssistantPart } from '../protocol/message.ts';

/**
 * The maximum length of one text in a span, in UTF-16 units (`otel_content_characters`). Many receivers refuse longer
 * attributes.
 */
const MAX_CONTENT_LENGTH = 16_384;

/** A text that a request adds to the conversation. */
export type NewMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string };

/** Returns `gen_ai.input.messages`: JSON in the form of the GenAI conventions. */
export function formatInputMessages(messages: readonly NewMessage[]): string {
  return JSON.stringify(
    messages.map((message) => ({
      role: message.role,
      parts: [
        message.role === 'user'
          ? { type: 'text', content: shorten(message.text) }
          : {
              type: 'tool_call_response',
              id: toSpanName(message.callId),
              response: shorten(message.text),
            },
      ],
    })),
  );
}

/** Returns `gen_ai.output.messages`: one message, as JSON in the form of the GenAI conventions. */
export function formatOutputMessage(
  content: readonly AssistantPart[],
  finishReason: string,
): string {
  return JSON.stringify([
    { role: 'assistant', parts: content.map(toPart), finish_reason: finishReason },
  ]);
}

/** Returns a value of a call as text: `gen_ai.tool.call.arguments` or `gen_ai.tool.call.result`. */
export function formatCallValue(value: JsonValue): string {
  return shorten(typeof value === 'string' ? value : JSON.stringify(value));
}

function toPart(part: AssistantPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', content: shorten(part.text) };
    case 'reasoning':
      return { type: 'reasoning', content: shorten(part.text) };
    case 'tool_call':
      return {
        type: 'tool_call',
        id: toSpanName(part.id),
        name: toSpanName(part.name),
        arguments: formatCallValue(part.input),
      };
    default:
      return part satisfies never;
  }
}

function shorten(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length <= MAX_CONTENT_LENGTH) return whole;
  const left = whole.length - MAX_CONTENT_LENGTH;
  const kept = whole.slice(0, MAX_CONTENT_LENGTH).toWellFormed();
  return `${kept}… [${left} more characters: otel_content_characters]`;
}
