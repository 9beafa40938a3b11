import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { WireAttachment, WireMessage, WireTool, WireToolResult } from '../wire-request.ts';
import { readObject, readObjects, readString } from './read-json.ts';

/** Returns the images and documents among the parts of a message or a result, as a field if there are any. */
export function attachmentsIn(content: JsonValue | undefined): {
  readonly attachments?: readonly WireAttachment[];
} {
  const attachments = readObjects(content).flatMap((part) => attachmentOf(part) ?? []);
  return attachments.length === 0 ? {} : { attachments };
}

/** Reads an attachment of any of the four protocols, whose part types all differ; null if a part is none. */
function attachmentOf(part: JsonObject): WireAttachment | null {
  switch (part['type']) {
    case 'image':
    case 'document': {
      const source = readObject(part['source']);
      return { mediaType: readString(source['media_type']), base64: readString(source['data']) };
    }
    case 'image_url':
      return ofUrl(readObject(part['image_url'])['url']);
    case 'input_image':
      return ofUrl(part['image_url']);
    case 'file':
      return ofUrl(readObject(part['file'])['file_data']);
    case 'input_file':
      return ofUrl(part['file_data']);
    default: {
      if (part['inlineData'] === undefined) return null;
      const data = readObject(part['inlineData']);
      return { mediaType: readString(data['mimeType']), base64: readString(data['data']) };
    }
  }
}

function ofUrl(url: JsonValue | undefined): WireAttachment {
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

/** Creates the message for the results of one answer's calls. */
export function toolMessage(toolResults: readonly WireToolResult[]): WireMessage {
  return { role: 'tool', text: '', toolCalls: [], toolResults };
}

/** Splits a user message that may hold results and text: the results come first, as a message of their own. */
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
    ...attachmentsIn(content),
  } as const;
  if (toolResults.length === 0) return [user];
  return text === '' ? [toolMessage(toolResults)] : [toolMessage(toolResults), user];
}
