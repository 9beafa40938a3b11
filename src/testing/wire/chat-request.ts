import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { ParsedBody, WireMessage } from '../wire-request.ts';
import { attachmentsIn, parseToolDefinition, toolMessage } from './message-parts.ts';
import { type PromptBlock, promptBlock } from './codec.ts';
import {
  contentText,
  parseOrKeep,
  readNumber,
  readObject,
  readObjects,
  readString,
} from './read-json.ts';

/** https://platform.openai.com/docs/api-reference/chat/create */
export function parseChat(body: JsonObject): ParsedBody {
  const messages = readObjects(body['messages']);
  const systemParts = messages.filter(isSystem).map((message) => contentText(message['content']));
  return {
    model: readString(body['model']),
    system: systemParts.join('\n\n'),
    systemParts,
    tools: readObjects(body['tools']).map((tool) => {
      const spec = readObject(tool['function']);
      return parseToolDefinition(spec, spec['parameters']);
    }),
    messages: joinResults(messages.filter((message) => !isSystem(message)).map(parseMessage)),
    maxOutputTokens: readNumber(body['max_completion_tokens'] ?? body['max_tokens']),
    toolChoice: openaiToolChoice(body['tool_choice']),
    stream: body['stream'] === true,
    streamUsage: readObject(body['stream_options'])['include_usage'] === true,
  };
}

/** Returns true for a system message. Newer OpenAI models call its role `developer`. */
export function isSystem(message: JsonObject): boolean {
  return message['role'] === 'system' || message['role'] === 'developer';
}

/** Reads a tool choice, which is a word or an object with the word as its `type`. */
export function openaiToolChoice(choice: JsonValue | undefined): string | null {
  return readString(choice) || readString(readObject(choice)['type']) || null;
}

function parseMessage(message: JsonObject): WireMessage {
  const text = contentText(message['content']);
  if (message['role'] === 'tool') {
    return toolMessage([{ callId: readString(message['tool_call_id']), text, isError: false }]);
  }
  const toolCalls = readObjects(message['tool_calls']).map((call) => {
    const spec = readObject(call['function']);
    return {
      id: readString(call['id']),
      name: readString(spec['name']),
      input: parseOrKeep(readString(spec['arguments'])),
    };
  });
  const role = message['role'] === 'assistant' ? 'assistant' : 'user';
  return { role, text, toolCalls, toolResults: [], ...attachmentsIn(message['content']) };
}

/** Joins the results of one answer, which are sent as one message each, to one message. */
export function joinResults(messages: readonly WireMessage[]): readonly WireMessage[] {
  const joined: WireMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') {
      joined[joined.length - 1] = toolMessage([...last.toolResults, ...message.toolResults]);
    } else joined.push(message);
  }
  return joined;
}

export function chatBlocks(body: JsonObject): readonly PromptBlock[] {
  return [
    ...readObjects(body['tools']).map((tool) => promptBlock('tools', tool)),
    ...readObjects(body['messages']).map((message) =>
      promptBlock(isSystem(message) ? 'system' : 'messages', message),
    ),
  ];
}
