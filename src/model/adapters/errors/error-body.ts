import { isJsonObject } from '../../../base/json.ts';
import { truncate } from '../../../base/text.ts';
import { isWebPage, stripMarkup, findPageTitle, findXmlError } from './markup.ts';

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
function errorFields(error: unknown): readonly ErrorField[] {
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
function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: a proxy's page or plain text, which is the message then.
    return text;
  }
}

const MOST_DEPTH = 8;
const MOST_CHARACTERS = 4_000;

/**
 * Returns all words by which an error body says what is wrong, its codes and the names of refused parts
 * included. Whatever else the body holds is left out: some servers send the refused request back, in which
 * anything may stand.
 */
export function errorText(body: string): string {
  const words: string[] = [];
  collect(parseJsonOrText(body), words, { depth: 0, kind: 'message' });
  return words.join(' ').slice(0, MOST_CHARACTERS);
}

interface Position {
  readonly depth: number;
  /** The kind of the field in which the value stands. */
  readonly kind: ErrorFieldKind;
}

function collect(value: unknown, words: string[], { depth, kind }: Position): void {
  if (depth > MOST_DEPTH) return;
  if (kind === 'code' && isNumericCode(value)) {
    // Marked, since a number of a message means something else.
    words.push(`code: ${value}`);
  } else if (typeof value === 'string') {
    // Gateways pass on the error of the server behind them as a text.
    const inner = /^\s*[{[]/.test(value) ? parseJsonOrText(value) : value;
    if (typeof inner === 'string') words.push(inner);
    else collect(inner, words, { depth: depth + 1, kind });
  } else if (Array.isArray(value)) {
    for (const one of value.slice(0, MOST_DEPTH)) collect(one, words, { depth: depth + 1, kind });
  } else {
    for (const field of errorFields(value)) {
      collect(field.value, words, { depth: depth + 1, kind: field.kind });
    }
  }
}

function isNumericCode(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && /^\d{1,10}$/.test(value));
}

const MAX_MESSAGE = 500;

/**
 * Returns what an error body says to a person, in one line; every vendor nests it differently. Of a web page
 * it tells the title, and `host`, in whose place it came; of a page or XML inside the message, what a person needs.
 */
export function describeErrorBody(body: string, host: string): string {
  if (isWebPage(body) && findXmlError(body) === null)
    return toErrorLine(describeWebPage(body, host));
  return toErrorLine(stripMarkup(findErrorMessage(parseJsonOrText(body)) ?? body));
}

/** Says that a web page came in place of an answer, and which one. */
export function describeWebPage(page: string, host: string): string {
  const title = findPageTitle(page);
  const named = title === null ? 'without a title' : `"${title}"`;
  return `a web page in place of an answer from ${host}: ${named}`;
}

/** The message inside a decoded error of any of the known shapes. */
export function findErrorMessage(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return findErrorMessage(value[0]);
  if (!isJsonObject(value)) return undefined;
  for (const field of errorFields(value)) {
    const message = field.kind === 'message' ? findErrorMessage(field.value) : undefined;
    if (message !== undefined && message !== '') return withCause(message, value);
  }
  return undefined;
}

/** OpenRouter's own message, "Provider returned error", says nothing: what that provider said stands beside it. */
function withCause(message: string, error: Readonly<Record<string, unknown>>): string {
  const { metadata } = error;
  if (!isJsonObject(metadata) || typeof metadata['raw'] !== 'string') return message;
  const raw = findErrorMessage(parseJsonOrText(metadata['raw'])) ?? metadata['raw'];
  return message.includes(raw) ? message : `${message}: ${raw}`;
}

/** Control characters would let a server write to the terminal. */
export function toErrorLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const short = truncate(line, MAX_MESSAGE);
  return short === line ? line : `${short}…`;
}
