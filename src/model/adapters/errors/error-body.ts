import { isJsonObject } from '../../../base/json.ts';
import { listNames, truncate } from '../../../base/text.ts';
import { isWebPage, stripMarkup, findPageTitle, findXmlError } from './markup.ts';
import { ReportedError, WrongServerError } from './answer-errors.ts';

/** The kind of information in a field of an error. */
type ErrorFieldKind = 'message' | 'code' | 'location';

/**
 * The fields in which servers put their errors. The names are in lower case and without underscores, because servers
 * write `error_msg`, `errorMessage`, `Message` and `Response.Error`. The fields are read in this order. Cloudflare and
 * watsonx write `errors`, Baidu `errormsg`, MiniMax `baseresp`, Apigee `fault`, Tencent and the Responses protocol
 * `response`, and problem details (RFC 9457) `title`. The last group names the wrong part of the request, or
 * contains the error of the server behind a gateway.
 */
const FIELDS: readonly (readonly [kind: ErrorFieldKind, names: string])[] = [
  ['message', 'error errors message detail msg errormsg errormessage errordescription baseresp'],
  ['message', 'statusmsg fault faultstring response description title'],
  ['code', 'code type status reason errorcode errortype statuscode'],
  ['location', 'param parameter loc field issues details fieldviolations metadata raw'],
];
const FIELD_KINDS: ReadonlyMap<string, ErrorFieldKind> = new Map(
  FIELDS.flatMap(([kind, names]) => listNames(names).map((name) => [name, kind] as const)),
);

interface ErrorField {
  readonly kind: ErrorFieldKind;
  readonly value: unknown;
}

/** Lists the fields of a decoded error that describe it, in the order of the table. */
function listErrorFields(error: unknown): readonly ErrorField[] {
  if (!isJsonObject(error)) return [];
  const values = new Map<string, unknown[]>();
  for (const [key, value] of Object.entries(error)) {
    const name = key.toLowerCase().replaceAll('_', '');
    if (!FIELD_KINDS.has(name)) continue;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return [...FIELD_KINDS].flatMap(([name, kind]) =>
    (values.get(name) ?? []).map((value) => ({ kind, value })),
  );
}

/** Parses a JSON text. Returns any other text unchanged, because a plain text is itself the message. */
function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text is not JSON: it is a web page or plain text.
    return text;
  }
}

const MAX_DEPTH = 8;
const MAX_TEXT_LENGTH = 4_000;

/**
 * Extracts all texts of an error body that describe the error: messages, codes and names of refused parts. Other fields
 * are left out, because some servers send the refused request back, which may contain any text.
 */
export function extractErrorText(body: string): string {
  const texts: string[] = [];
  collectTexts(parseJsonOrText(body), texts, { depth: 0, kind: 'message' });
  return texts.join(' ').slice(0, MAX_TEXT_LENGTH);
}

/** The position of a value in an error body. */
interface Position {
  readonly depth: number;
  /** The kind of the field that contains the value. */
  readonly kind: ErrorFieldKind;
}

function collectTexts(value: unknown, texts: string[], { depth, kind }: Position): void {
  if (depth > MAX_DEPTH) return;
  if (kind === 'code' && isNumericCode(value)) {
    // A code is marked, because a plain number in the text could be anything.
    texts.push(`code: ${value}`);
  } else if (typeof value === 'string') {
    // Gateways include the error of the server behind them as JSON in a string.
    const inner = /^\s*[{[]/.test(value) ? parseJsonOrText(value) : value;
    if (typeof inner === 'string') texts.push(inner);
    else collectTexts(inner, texts, { depth: depth + 1, kind });
  } else if (Array.isArray(value)) {
    for (const one of value.slice(0, MAX_DEPTH))
      collectTexts(one, texts, { depth: depth + 1, kind });
  } else {
    for (const field of listErrorFields(value)) {
      collectTexts(field.value, texts, { depth: depth + 1, kind: field.kind });
    }
  }
}

function isNumericCode(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && /^\d{1,10}$/.test(value));
}

const MAX_MESSAGE_LENGTH = 500;

/**
 * Describes an error body in one line for people. The message is found in the fields of any vendor, and markup is removed
 * from it. For a web page, the line contains the title and `host`, from which an answer was expected.
 */
export function describeErrorBody(body: string, host: string): string {
  if (isWebPage(body) && findXmlError(body) === null) return toErrorLine(describePage(body, host));
  return toErrorLine(stripMarkup(findErrorMessage(parseJsonOrText(body)) ?? body));
}

/** Describes a web page that a server sent instead of an answer. */
export function describePage(page: string, host: string): string {
  const title = findPageTitle(page);
  const quotedTitle = title === null ? 'without a title' : `"${title}"`;
  return `a web page instead of an answer from ${host}: ${quotedTitle}`;
}

/** Finds the message in a decoded error of any known form. */
export function findErrorMessage(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return findErrorMessage(value[0]);
  if (!isJsonObject(value)) return undefined;
  const { error, message: said } = value;
  // Fireworks: one of them is only the name of the status, and the other one says what happened.
  if (typeof error === 'string' && typeof said === 'string') {
    return said.length > error.length ? said : error;
  }
  for (const field of listErrorFields(value)) {
    const message = field.kind === 'message' ? findErrorMessage(field.value) : undefined;
    if (message !== undefined && message !== '') return withCause(message, value);
  }
  return undefined;
}

/** Adds the message of the server behind OpenRouter, because the message of OpenRouter is only "Provider returned error". */
function withCause(message: string, error: Readonly<Record<string, unknown>>): string {
  const { metadata } = error;
  if (!isJsonObject(metadata) || typeof metadata['raw'] !== 'string') return message;
  const raw = findErrorMessage(parseJsonOrText(metadata['raw'])) ?? metadata['raw'];
  return message.includes(raw) ? message : `${message}: ${raw}`;
}

/** Shortens a text to one line. Removes control characters, with which a server could control the terminal. */
export function toErrorLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const short = truncate(line, MAX_MESSAGE_LENGTH);
  return short === line ? line : `${short}…`;
}

/** Matches the lines of a stream without content: comments, fields other than `data`, and empty data. */
const EMPTY_LINES = /^(?::.*|(?:event|id|retry)\s*:.*|data\s*:\s*|\s*)$/gm;

/**
 * Matches messages of gateways that the server behind them is temporarily unavailable. The gateways are Envoy, nginx,
 * HAProxy, Cloudflare, AWS, and Google's load balancers.
 */
const TRANSIENT =
  /upstream|\b(?:bad gateway|gateway time-?out|gateway error|service (?:is )?(?:temporarily )?unavailable|temporarily|try again|overloaded|no healthy|no server is available|too many requests|rate.?limit|connection (?:reset|refused|terminated|timed out|failure)|timed? ?out|internal server error|server error|50[0234]|52\d)\b/i;

/**
 * Creates the error for a body that contains neither an event nor an answer. Returns null if the body has no content,
 * because the connection then broke before the answer.
 */
export function createBodyError(body: string, host: string): Error | null {
  const text = body.replaceAll(EMPTY_LINES, '').trim();
  if (text === '') return null;
  const message = isWebPage(text)
    ? describePage(text, host)
    : `text instead of an answer from ${host}: "${toErrorLine(text)}"`;
  return isTransient(message) ? new ReportedError({ message }) : new WrongServerError(message);
}

/** Returns true for a message about a temporary problem, after which the request can be sent again. */
export function isTransient(message: string): boolean {
  return TRANSIENT.test(message);
}
