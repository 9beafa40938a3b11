import { createHash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { findProtocol } from '../routes.ts';
import { CODECS } from '../wire/codecs.ts';
import { parseOrKeep } from '../wire/read-json.ts';
import type { WireAttachment, WireMessage } from '../wire-request.ts';

/** A request without what differs from run to run: ids of calls, boundaries of outside text, the system prompt. */
export interface NormalizedRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path of the URL without its query. */
  readonly path: string;
  /** The content of a request to a model. Absent for other requests. */
  readonly model?: string;
  /** The messages, without ids and boundaries. */
  readonly messages?: JsonValue;
  /** The names of the tools. */
  readonly tools?: readonly string[];
  /** The SHA-256 of the body of any other request. Absent without a body. */
  readonly bodyHash?: string;
}

export interface RawRequest {
  readonly method: string;
  /** The path with the query. */
  readonly url: string;
  readonly body: string;
}

/** Normalizes a request. `normalize` replaces what differs in texts, such as the path of a temporary directory. */
export function normalizeRequest(
  { method, url, body }: RawRequest,
  normalize: (text: string) => string,
): NormalizedRequest {
  const [path = ''] = url.split('?', 1);
  const protocol = method === 'POST' ? findProtocol(path) : null;
  const parsed = body === '' ? null : parseOrKeep(body);
  if (protocol === null || !isJsonObject(parsed))
    return { method, path, ...(body === '' ? {} : { bodyHash: hashText(body) }) };
  const { model, messages, tools } = CODECS[protocol].parse(parsed, path);
  return {
    method,
    path,
    model,
    messages: messages.map(createMessageNormalizer(normalize)),
    tools: tools.map(({ name }) => name),
  };
}

/** Creates a function that normalizes the messages of one request in their order. */
function createMessageNormalizer(normalize: (text: string) => string) {
  const ids = new Map<string, string>();
  const toStableId = (id: string): string => {
    const known = ids.get(id) ?? `call ${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  const toText = (text: string) =>
    normalize(text.replaceAll(/<(\/?)outside [^>]*>/g, '<$1outside>'));
  const toValue = (value: JsonValue): JsonValue => JSON.parse(normalize(JSON.stringify(value)));
  return ({ role, text, toolCalls, toolResults, attachments = [] }: WireMessage): JsonValue => ({
    role,
    ...(text === '' ? {} : { text: toText(text) }),
    ...(toolCalls.length === 0
      ? {}
      : {
          calls: toolCalls.map(({ id, name, input }) => ({
            id: toStableId(id),
            name,
            input: toValue(input),
          })),
        }),
    ...(toolResults.length === 0
      ? {}
      : {
          results: toolResults.map(({ callId, text: result, attachments: files = [] }) => ({
            id: toStableId(callId),
            text: toText(result),
            ...describeAttachments(files),
          })),
        }),
    ...describeAttachments(attachments),
  });
}

function describeAttachments(attachments: readonly WireAttachment[]): { attachments?: JsonValue } {
  if (attachments.length === 0) return {};
  return {
    attachments: attachments.map(({ mediaType, base64 }) => `${mediaType} ${hashText(base64)}`),
  };
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
