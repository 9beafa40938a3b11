import type { JsonObject } from '../../base/json.ts';
import type { ParsedBody, WireMessage } from '../wire-request.ts';
import { readAttachmentsField, parseToolDefinition, splitUserMessage } from './message-parts.ts';
import { type PromptBlock, createPartBlocks, createPromptBlock } from './codec.ts';
import { readContentText, readNumber, readObject, readObjects, readString } from './read-json.ts';

/**
 * Parses a request of https://ai.google.dev/api/generate-content. `path` contains the model, and whether the answer is a
 * stream.
 */
export function parseGoogle(body: JsonObject, path: string): ParsedBody {
  const systemParts = readSystemParts(body).map((part) => readString(part['text']));
  const calling = readObject(readObject(body['toolConfig'])['functionCallingConfig']);
  return {
    model: /models\/([^:?/]+):/.exec(path)?.[1] ?? '',
    system: systemParts.join('\n\n'),
    systemParts,
    tools: readFunctionDeclarations(body).map((tool) =>
      parseToolDefinition(tool, tool['parameters'] ?? tool['parametersJsonSchema']),
    ),
    messages: readObjects(body['contents']).flatMap(parseContent),
    maxOutputTokens: readNumber(readObject(body['generationConfig'])['maxOutputTokens']),
    toolChoice: readString(calling['mode']).toLowerCase() || null,
    stream: path.includes(':streamGenerateContent'),
    streamUsage: true,
  };
}

function readSystemParts(body: JsonObject): readonly JsonObject[] {
  return readObjects(readObject(body['systemInstruction'])['parts']);
}

function readFunctionDeclarations(body: JsonObject): readonly JsonObject[] {
  return readObjects(body['tools']).flatMap((tool) => readObjects(tool['functionDeclarations']));
}

function parseContent(content: JsonObject): readonly WireMessage[] {
  const parts = readObjects(content['parts']);
  const text = readContentText(parts.filter((part) => part['thought'] !== true));
  if (content['role'] === 'model') {
    const toolCalls = collectFieldObjects(parts, 'functionCall').map(
      ({ id, name, args = null }) => ({
        id: readString(id),
        name: readString(name),
        input: args,
      }),
    );
    return [{ role: 'assistant', text, toolCalls, toolResults: [] }];
  }
  const toolResults = collectFieldObjects(parts, 'functionResponse').map(parseResult);
  return splitUserMessage(text, toolResults, content['parts']);
}

/** Collects the objects in a field of the parts. Parts without the field are left out. */
function collectFieldObjects(parts: readonly JsonObject[], field: string): readonly JsonObject[] {
  return parts.flatMap(({ [field]: value }) => (value === undefined ? [] : [readObject(value)]));
}

/** Parses a function response. Its object can have any form; `error`, `content` and `output` are the usual keys. */
function parseResult(result: JsonObject) {
  const response = readObject(result['response']);
  const value = response['error'] ?? response['content'] ?? response['output'] ?? response;
  return {
    callId: readString(result['id']),
    text: typeof value === 'string' ? value : JSON.stringify(value),
    isError: response['error'] !== undefined,
    ...readAttachmentsField(result['parts']),
  };
}

export function listGoogleBlocks(body: JsonObject): readonly PromptBlock[] {
  return [
    ...readFunctionDeclarations(body).map((tool) => createPromptBlock('tools', tool)),
    ...readSystemParts(body).map((part) => createPromptBlock('system', part)),
    ...readObjects(body['contents']).flatMap((content) =>
      createPartBlocks('messages', content['role'], content['parts']),
    ),
  ];
}
