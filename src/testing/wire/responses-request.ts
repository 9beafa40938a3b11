import type { JsonObject } from '../../base/json.ts';
import type { ParsedBody, WireMessage, WireTool } from '../wire-request.ts';
import { readAttachmentsField, parseToolDefinition, createToolMessage } from './message-parts.ts';
import { isSystem, joinResults, readToolChoice } from './chat-request.ts';
import { type PromptBlock, createPromptBlock } from './codec.ts';
import {
  readContentText,
  parseOrKeep,
  readNumber,
  readObject,
  readObjects,
  readString,
} from './read-json.ts';

/** Parses a request of https://platform.openai.com/docs/api-reference/responses/create. */
export function parseResponses(body: JsonObject): ParsedBody {
  const items = readInputItems(body);
  const instructions = readString(body['instructions']);
  const systemParts = [
    ...(instructions === '' ? [] : [instructions]),
    ...items.filter(isSystem).map((item) => readContentText(item['content'])),
  ];
  return {
    model: readString(body['model']),
    system: systemParts.join('\n\n'),
    systemParts,
    tools: readObjects(body['tools']).map(parseTool),
    messages: joinResults(joinAnswers(items.filter((item) => !isSystem(item)).flatMap(parseItem))),
    maxOutputTokens: readNumber(body['max_output_tokens']),
    toolChoice: readToolChoice(body['tool_choice']),
    stream: body['stream'] === true,
    streamUsage: true,
  };
}

function parseTool(tool: JsonObject): WireTool {
  const definition = parseToolDefinition(tool, tool['parameters']);
  if (tool['type'] !== 'custom') return definition;
  return { ...definition, grammar: readString(readObject(tool['format'])['definition']) };
}

function readInputItems(body: JsonObject): readonly JsonObject[] {
  if (typeof body['input'] !== 'string') return readObjects(body['input']);
  return [{ role: 'user', content: body['input'] }];
}

/** Parses an item. Reasoning and references to stored items are left out, because tests do not need them. */
function parseItem(item: JsonObject): readonly WireMessage[] {
  switch (item['type']) {
    case 'function_call': {
      const input = parseOrKeep(readString(item['arguments']));
      const call = { id: readString(item['call_id']), name: readString(item['name']), input };
      return [{ role: 'assistant', text: '', toolCalls: [call], toolResults: [] }];
    }
    case 'custom_tool_call': {
      const input = { input: readString(item['input']) };
      const call = { id: readString(item['call_id']), name: readString(item['name']), input };
      return [{ role: 'assistant', text: '', toolCalls: [call], toolResults: [] }];
    }
    case 'custom_tool_call_output':
    case 'function_call_output': {
      const { call_id: id, output } = item;
      const result = { callId: readString(id), text: readContentText(output), isError: false };
      return [createToolMessage([{ ...result, ...readAttachmentsField(output) }])];
    }
    case undefined:
    case 'message': {
      const role = item['role'] === 'assistant' ? 'assistant' : 'user';
      const attachments = readAttachmentsField(item['content']);
      const text = readContentText(item['content']);
      return [{ role, text, toolCalls: [], toolResults: [], ...attachments }];
    }
    default:
      return [];
  }
}

/** Joins the texts and calls of one answer, each of which is a separate item, to one message. */
function joinAnswers(messages: readonly WireMessage[]): readonly WireMessage[] {
  const joined: WireMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'assistant' && last?.role === 'assistant') {
      joined[joined.length - 1] = {
        ...last,
        text: last.text + message.text,
        toolCalls: [...last.toolCalls, ...message.toolCalls],
      };
    } else joined.push(message);
  }
  return joined;
}

export function listResponsesBlocks(body: JsonObject): readonly PromptBlock[] {
  const instructions = body['instructions'];
  return [
    ...readObjects(body['tools']).map((tool) => createPromptBlock('tools', tool)),
    ...(typeof instructions === 'string' ? [createPromptBlock('system', instructions)] : []),
    ...readInputItems(body).map((item) =>
      createPromptBlock(isSystem(item) ? 'system' : 'messages', item),
    ),
  ];
}
