import type { JsonObject } from '../../base/json.ts';
import type { ParsedBody, WireMessage } from '../wire-request.ts';
import { attachmentsIn, parseToolDefinition, toolMessage } from './message-parts.ts';
import { isSystem, joinResults, openaiToolChoice } from './chat-request.ts';
import { type PromptBlock, promptBlock } from './codec.ts';
import { contentText, parseOrKeep, readNumber, readObjects, readString } from './read-json.ts';

/** https://platform.openai.com/docs/api-reference/responses/create */
export function parseResponses(body: JsonObject): ParsedBody {
  const items = inputItems(body);
  const instructions = readString(body['instructions']);
  const systemParts = [
    ...(instructions === '' ? [] : [instructions]),
    ...items.filter(isSystem).map((item) => contentText(item['content'])),
  ];
  return {
    model: readString(body['model']),
    system: systemParts.join('\n\n'),
    systemParts,
    tools: readObjects(body['tools']).map((tool) => parseToolDefinition(tool, tool['parameters'])),
    messages: joinResults(joinAnswers(items.filter((item) => !isSystem(item)).flatMap(parseItem))),
    maxOutputTokens: readNumber(body['max_output_tokens']),
    toolChoice: openaiToolChoice(body['tool_choice']),
    stream: body['stream'] === true,
    streamUsage: true,
  };
}

function inputItems(body: JsonObject): readonly JsonObject[] {
  if (typeof body['input'] !== 'string') return readObjects(body['input']);
  return [{ role: 'user', content: body['input'] }];
}

/** Parses an item. Reasoning and references to stored items contain nothing that a test reads. */
function parseItem(item: JsonObject): readonly WireMessage[] {
  switch (item['type']) {
    case 'function_call': {
      const input = parseOrKeep(readString(item['arguments']));
      const call = { id: readString(item['call_id']), name: readString(item['name']), input };
      return [{ role: 'assistant', text: '', toolCalls: [call], toolResults: [] }];
    }
    case 'function_call_output': {
      const { call_id: id, output } = item;
      const result = { callId: readString(id), text: contentText(output), isError: false };
      return [toolMessage([{ ...result, ...attachmentsIn(output) }])];
    }
    case undefined:
    case 'message': {
      const role = item['role'] === 'assistant' ? 'assistant' : 'user';
      const shown = attachmentsIn(item['content']);
      const text = contentText(item['content']);
      return [{ role, text, toolCalls: [], toolResults: [], ...shown }];
    }
    default:
      return [];
  }
}

/** Joins the texts and calls of one answer, which are separate items, to one message. */
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

export function responsesBlocks(body: JsonObject): readonly PromptBlock[] {
  const instructions = body['instructions'];
  return [
    ...readObjects(body['tools']).map((tool) => promptBlock('tools', tool)),
    ...(typeof instructions === 'string' ? [promptBlock('system', instructions)] : []),
    ...inputItems(body).map((item) => promptBlock(isSystem(item) ? 'system' : 'messages', item)),
  ];
}
