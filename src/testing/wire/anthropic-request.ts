import type { JsonObject } from '../../base/json.ts';
import type { ParsedBody, WireMessage, WireToolResult } from '../wire-request.ts';
import { attachmentsIn, parseToolDefinition, splitUserMessage } from './message-parts.ts';
import { type PromptBlock, partBlocks, promptBlock } from './codec.ts';
import { contentText, readNumber, readObject, readObjects, readString } from './read-json.ts';

/** https://docs.claude.com/en/api/messages */
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
    typeof message['content'] === 'string' ? message['content'] : contentText(ofType('text'));
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
    text: contentText(part['content']),
    isError: part['is_error'] === true,
    ...attachmentsIn(part['content']),
  };
}

export function anthropicBlocks(body: JsonObject): readonly PromptBlock[] {
  return [
    ...readObjects(body['tools']).map((tool) => promptBlock('tools', tool)),
    ...partBlocks('system', 'system', body['system']),
    ...readObjects(body['messages']).flatMap((message) =>
      partBlocks('messages', message['role'], message['content']),
    ),
  ];
}
