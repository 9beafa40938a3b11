import type { JsonObject } from '../../base/json.ts';
import type { ParsedBody, WireMessage } from '../wire-request.ts';
import { attachmentsIn, parseToolDefinition, splitUserMessage } from './message-parts.ts';
import { type PromptBlock, partBlocks, promptBlock } from './codec.ts';
import { contentText, readNumber, readObject, readObjects, readString } from './read-json.ts';

/**
 * Parses a request of https://ai.google.dev/api/generate-content, with the model and the kind of answer in its
 * path.
 */
export function parseGoogle(body: JsonObject, path: string): ParsedBody {
  const systemParts = systemContent(body).map((part) => readString(part['text']));
  const calling = readObject(readObject(body['toolConfig'])['functionCallingConfig']);
  return {
    model: /models\/([^:?/]+):/.exec(path)?.[1] ?? '',
    system: systemParts.join('\n\n'),
    systemParts,
    tools: functionDeclarations(body).map((tool) =>
      parseToolDefinition(tool, tool['parameters'] ?? tool['parametersJsonSchema']),
    ),
    messages: readObjects(body['contents']).flatMap(parseContent),
    maxOutputTokens: readNumber(readObject(body['generationConfig'])['maxOutputTokens']),
    toolChoice: readString(calling['mode']).toLowerCase() || null,
    stream: path.includes(':streamGenerateContent'),
    streamUsage: true,
  };
}

function systemContent(body: JsonObject): readonly JsonObject[] {
  return readObjects(readObject(body['systemInstruction'])['parts']);
}

function functionDeclarations(body: JsonObject): readonly JsonObject[] {
  return readObjects(body['tools']).flatMap((tool) => readObjects(tool['functionDeclarations']));
}

function parseContent(content: JsonObject): readonly WireMessage[] {
  const parts = readObjects(content['parts']);
  const text = contentText(parts.filter((part) => part['thought'] !== true));
  if (content['role'] === 'model') {
    const toolCalls = fieldsOf(parts, 'functionCall').map(({ id, name, args = null }) => ({
      id: readString(id),
      name: readString(name),
      input: args,
    }));
    return [{ role: 'assistant', text, toolCalls, toolResults: [] }];
  }
  const toolResults = fieldsOf(parts, 'functionResponse').map(parseResult);
  return splitUserMessage(text, toolResults, content['parts']);
}

/** Returns the objects that a field holds in those of the parts that have it. */
function fieldsOf(parts: readonly JsonObject[], field: string): readonly JsonObject[] {
  return parts.flatMap(({ [field]: value }) => (value === undefined ? [] : [readObject(value)]));
}

/** Parses a function response. Its object has any form; `error`, `content` and `output` are the usual keys. */
function parseResult(result: JsonObject) {
  const response = readObject(result['response']);
  const value = response['error'] ?? response['content'] ?? response['output'] ?? response;
  return {
    callId: readString(result['id']),
    text: typeof value === 'string' ? value : JSON.stringify(value),
    isError: response['error'] !== undefined,
    ...attachmentsIn(result['parts']),
  };
}

export function googleBlocks(body: JsonObject): readonly PromptBlock[] {
  return [
    ...functionDeclarations(body).map((tool) => promptBlock('tools', tool)),
    ...systemContent(body).map((part) => promptBlock('system', part)),
    ...readObjects(body['contents']).flatMap((content) =>
      partBlocks('messages', content['role'], content['parts']),
    ),
  ];
}
