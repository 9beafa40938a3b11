import { isJsonObject } from '../../base/json.ts';

/**
 * The fields in which the known servers put their errors, in lower case and without underscores: servers
 * write `error_msg`, `errorMessage`, `Message` and `Response.Error`. Of several fields, the first is read first.
 */
const MESSAGES = [
  'error',
  // Cloudflare, watsonx
  'errors',
  'message',
  'detail',
  'msg',
  // Baidu
  'errormsg',
  'errormessage',
  'errordescription',
  // MiniMax
  'baseresp',
  'statusmsg',
  // Apigee
  'fault',
  'faultstring',
  // Tencent; events of the Responses protocol
  'response',
  'description',
  // Problem details (RFC 9457)
  'title',
] as const;

const CODES = ['code', 'type', 'status', 'reason', 'errorcode', 'errortype', 'statuscode'] as const;

/** Fields that say which part of the request an error is about, or lead to the error behind this one. */
const PLACES = [
  'param',
  'parameter',
  'loc',
  'field',
  'issues',
  'details',
  'fieldviolations',
  'metadata',
  'raw',
] as const;

/** How the value of a field is to be read. */
export type ErrorFieldKind = 'message' | 'code' | 'place';

const KINDS: ReadonlyMap<string, ErrorFieldKind> = new Map([
  ...MESSAGES.map((name) => [name, 'message'] as const),
  ...CODES.map((name) => [name, 'code'] as const),
  ...PLACES.map((name) => [name, 'place'] as const),
]);

export interface ErrorField {
  readonly kind: ErrorFieldKind;
  readonly value: unknown;
}

/** Returns the fields of a decoded error that say something about it, in the order of the table. */
export function errorFields(error: unknown): readonly ErrorField[] {
  if (!isJsonObject(error)) return [];
  const values = new Map<string, unknown[]>();
  for (const [key, value] of Object.entries(error)) {
    const name = key.toLowerCase().replaceAll('_', '');
    if (!KINDS.has(name)) continue;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return [...KINDS].flatMap(([name, kind]) =>
    (values.get(name) ?? []).map((value) => ({ kind, value })),
  );
}

/** Returns the value of a JSON text, and any other text as it is: plain text says what is wrong by itself. */
export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: a proxy's page or plain text, which is the message then.
    return text;
  }
}
