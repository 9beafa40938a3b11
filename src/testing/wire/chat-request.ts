import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { ParsedBody, WireMessage } from '../wire-request.ts';
import { readAttachmentsField, parseToolDefinition, createToolMessage } from './message-parts.ts';
import { type PromptBlock, createPromptBlock } from './codec.ts';
import {
  readContentText,
  parseOrKeep,
  readNumber,
  readObject,
  readObjects,
  readString,
} from './read-json.ts';

/** Parses a request of https://platform.openai.com/docs/api-reference/chat/create. */
export function parseChat(body: JsonObject): ParsedBody {
  const messages = readObjects(body['messages']);
  const systemParts = messages
    .filter(isSystem)
    .map((message) => readContentText(message['content']));
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
    toolChoice: readToolChoice(body['tool_choice']),
    stream: body['stream'] === true,
    streamUsage: readObject(body['stream_options'])['include_usage'] === true,
  };
}

/** Returns true for a system message. For newer models of OpenAI, its role is `developer`. */
export function isSystem(message: JsonObject): boolean {
  return message['role'] === 'system' || message['role'] === 'developer';
}

/** Reads a tool choice, which is either a text or an object with the text as its `type`. */
export function readToolChoice(choice: JsonValue | undefined): string | null {
  return readString(choice) || readString(readObject(choice)['type']) || null;
}

function parseMessage(message: JsonObject): WireMessage {
  const text = readContentText(message['content']);
  if (message['role'] === 'tool') {
    return createToolMessage([
      { callId: readString(message['tool_call_id']), text, isError: false },
    ]);
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
  return { role, text, toolCalls, toolResults: [], ...readAttachmentsField(message['content']) };
}

/** Joins the results for one answer, each of which is a separate message, to one message. */
export function joinResults(messages: readonly WireMessage[]): readonly WireMessage[] {
  const joined: WireMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') {
      joined[joined.length - 1] = createToolMessage([...last.toolResults, ...message.toolResults]);
    } else joined.push(message);
  }
  return joined;
}

export function listChatBlocks(body: JsonObject): readonly PromptBlock[] {
  return [
    ...readObjects(body['tools']).map((tool) => createPromptBlock('tools', tool)),
    ...readObjects(body['messages']).map((message) =>
      createPromptBlock(isSystem(message) ? 'system' : 'messages', message),
    ),
  ];
}
