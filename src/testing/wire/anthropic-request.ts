import type { JsonObject } from '../../base/json.ts';
import type { ParsedBody, WireMessage, WireToolResult } from '../wire-request.ts';
import { readAttachmentsField, parseToolDefinition, splitUserMessage } from './message-parts.ts';
import { type PromptBlock, createPartBlocks, createPromptBlock } from './codec.ts';
import { readContentText, readNumber, readObject, readObjects, readString } from './read-json.ts';

/** Parses a request of https://docs.claude.com/en/api/messages. */
export function parseAnthropic(body: JsonObject): ParsedBody {
  const systemParts =
    typeof body['system'] === 'string'
      ? [body['system']]
      : readObjects(body['system']).map((part) => readString(part['text']));
  return {
    model: readString(body['model']),
    system: systemParts.join('\n\n'),
    systemParts,
    tools: readObjects(body['tools']).map((tool) =>
      parseToolDefinition(tool, tool['input_schema']),
    ),
    messages: readObjects(body['messages']).flatMap(parseMessage),
    maxOutputTokens: readNumber(body['max_tokens']),
    toolChoice: readString(readObject(body['tool_choice'])['type']) || null,
    stream: body['stream'] === true,
    streamUsage: true,
  };
}

function parseMessage(message: JsonObject): readonly WireMessage[] {
  const parts = readObjects(message['content']);
  const ofType = (type: string) => parts.filter((part) => part['type'] === type);
  const text =
    typeof message['content'] === 'string' ? message['content'] : readContentText(ofType('text'));
  if (message['role'] === 'assistant') {
    const toolCalls = ofType('tool_use').map((part) => ({
      id: readString(part['id']),
      name: readString(part['name']),
      input: part['input'] ?? null,
    }));
    return [{ role: 'assistant', text, toolCalls, toolResults: [] }];
  }
  return splitUserMessage(text, ofType('tool_result').map(parseResult), message['content']);
}

function parseResult(part: JsonObject): WireToolResult {
  return {
    callId: readString(part['tool_use_id']),
    text: readContentText(part['content']),
    isError: part['is_error'] === true,
    ...readAttachmentsField(part['content']),
  };
}

export function listAnthropicBlocks(body: JsonObject): readonly PromptBlock[] {
  return [
    ...readObjects(body['tools']).map((tool) => createPromptBlock('tools', tool)),
    ...createPartBlocks('system', 'system', body['system']),
    ...readObjects(body['messages']).flatMap((message) =>
      createPartBlocks('messages', message['role'], message['content']),
    ),
  ];
}
