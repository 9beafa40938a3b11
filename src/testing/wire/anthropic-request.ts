import type { JsonObject } from '../../base/json.ts';
import type { ParsedBody, WireMessage, WireToolResult } from '../wire-request.ts';
import { attachmentsIn } from './attachments.ts';
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
    tools: readObjects(body['tools']).map((tool) => ({
      name: readString(tool['name']),
      description: readString(tool['description']),
      schema: readObject(tool['input_schema']),
    })),
    messages: readObjects(body['messages']).flatMap(parseMessage),
    maxOutputTokens: readNumber(body['max_tokens']),
    toolChoice: readString(readObject(body['tool_choice'])['type']) || null,
    stream: body['stream'] === true,
    streamUsage: true,
  };
}

/** A user message may hold results and text: results first, as a message of their own. */
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
  const toolResults = ofType('tool_result').map(parseResult);
  const messages: WireMessage[] = [];
  if (toolResults.length > 0) messages.push({ role: 'tool', text: '', toolCalls: [], toolResults });
  if (text !== '' || toolResults.length === 0) {
    const shown = attachmentsIn(message['content']);
    messages.push({ role: 'user', text, toolCalls: [], toolResults: [], ...shown });
  }
  return messages;
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
