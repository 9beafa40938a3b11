import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { WireAttachment, WireMessage, WireTool, WireToolResult } from '../wire-request.ts';
import { readObject, readObjects, readString } from './read-json.ts';

/** Reads the images and documents of a message or a result. Returns no field if there are none. */
export function readAttachmentsField(content: JsonValue | undefined): {
  readonly attachments?: readonly WireAttachment[];
} {
  const attachments = readObjects(content).flatMap((part) => readAttachment(part) ?? []);
  return attachments.length === 0 ? {} : { attachments };
}

/** Reads an attachment of any of the four protocols, whose part types all differ; null: the part is not an attachment. */
function readAttachment(part: JsonObject): WireAttachment | null {
  switch (part['type']) {
    case 'image':
    case 'document': {
      const source = readObject(part['source']);
      return { mediaType: readString(source['media_type']), base64: readString(source['data']) };
    }
    case 'image_url':
      return readDataUrl(readObject(part['image_url'])['url']);
    case 'input_image':
      return readDataUrl(part['image_url']);
    case 'file':
      return readDataUrl(readObject(part['file'])['file_data']);
    case 'input_file':
      return readDataUrl(part['file_data']);
    default: {
      if (part['inlineData'] === undefined) return null;
      const data = readObject(part['inlineData']);
      return { mediaType: readString(data['mimeType']), base64: readString(data['data']) };
    }
  }
}

function readDataUrl(url: JsonValue | undefined): WireAttachment {
  const [, mediaType = '', base64 = ''] =
    /^data:([^;,]*);base64,(.*)$/s.exec(readString(url)) ?? [];
  return { mediaType, base64 };
}

/** Reads the definition of a tool from the object with its name, and from its schema. */
export function parseToolDefinition(spec: JsonObject, schema: JsonValue | undefined): WireTool {
  return {
    name: readString(spec['name']),
    description: readString(spec['description']),
    schema: readObject(schema),
  };
}

/** Creates the message with the results of the calls of one answer. */
export function createToolMessage(toolResults: readonly WireToolResult[]): WireMessage {
  return { role: 'tool', text: '', toolCalls: [], toolResults };
}

/** Splits a user message that may contain results and text into a message with the results and a message with the text. */
export function splitUserMessage(
  text: string,
  toolResults: readonly WireToolResult[],
  content: JsonValue | undefined,
): readonly WireMessage[] {
  const user = {
    role: 'user',
    text,
    toolCalls: [],
    toolResults: [],
    ...readAttachmentsField(content),
  } as const;
  if (toolResults.length === 0) return [user];
  return text === '' ? [createToolMessage(toolResults)] : [createToolMessage(toolResults), user];
}
