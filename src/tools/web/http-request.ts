import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { WebHeaders, WebResponse } from '../../protocol/web.ts';
import { plainText } from '../../sys/plain-text.ts';
import { parseWebUrl } from '../../web/parse-url.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';
import { detectBinaryKind, SAMPLE_BYTES } from '../shared/file-text.ts';
import { failure } from '../shared/output.ts';
import { BYTE_ORDER_MARK, decodeText, detectEncoding } from '../shared/text-encoding.ts';
import { parseJson, printJsonTree } from '../utility/json/json-tree.ts';

const tool = defineBuiltinTool({
  name: 'HttpRequest',
  kind: 'network',
  // Even a request with GET may have an effect on a web service.
  replay: 'opaque',
  description:
    'Send an HTTP request to a web service: status, main headers and body of the answer. To read pages use WebFetch.',
  input: {
    type: 'object',
    properties: {
      url: { type: 'string', minLength: 1 },
      method: { type: 'string', description: 'default GET, with a body POST' },
      headers: {
        type: 'array',
        items: { type: 'string' },
        description: 'each as "Name: value"',
      },
      body: { type: 'string' },
      json: { type: 'string', description: 'JSON as the body, with its content type' },
    },
    required: ['url'],
    fixed: { follow_redirects: [true], verify: [true], verify_ssl: [true] },
    ignored: ['timeout', 'timeout_ms'],
  },
  aliases: { uri: 'url', link: 'url', data: 'body', payload: 'body', content: 'body' },
  describe: ({ url, ...request }) => {
    const parsed = parseWebUrl(url);
    const hosts = parsed.ok ? [parsed.url.hostname] : [];
    const fetches = READING_METHODS.has(chooseMethod(request));
    return { ...NO_ACCESS, hosts, ...(fetches ? { onlyFetches: true } : {}) };
  },
  async run(input, { web }) {
    const parsed = parseWebUrl(input.url);
    if (!parsed.ok) throw new MusterError('INVALID_PARAM', `url: ${parsed.problem}`);
    const { headers, body } = readContent(input);
    if (web === undefined) return failure('NOT_FOUND', 'The web cannot be reached from here.');
    const response = await web.send({
      method: chooseMethod(input),
      url: parsed.url,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return { text: formatResponse(response, parsed.url) };
  },
});

/** The HttpRequest tool. It accepts headers as an object and JSON as a value, because models send both. */
export const httpRequestTool: typeof tool = {
  ...tool,
  parse: (input) => tool.parse(isJsonObject(input) ? toListedTypes(input) : input),
};

function toListedTypes(input: JsonObject): JsonObject {
  const entries = Object.entries(input).map(([name, value]): [string, JsonValue] => {
    if (/^headers?$/i.test(name)) return ['headers', toHeaderLines(value ?? null)];
    const isValue = name === 'json' && value !== null && typeof value !== 'string';
    return [name, isValue ? JSON.stringify(value) : (value ?? null)];
  });
  return Object.fromEntries(entries);
}

function toHeaderLines(value: JsonValue): JsonValue {
  if (isJsonObject(value)) {
    return Object.entries(value).map(([name, text]) => `${name}: ${formatScalar(text ?? '')}`);
  }
  if (typeof value !== 'string') return value;
  const parsed = parseJsonText(value);
  if (isJsonObject(parsed)) return toHeaderLines(parsed);
  return parsed === undefined ? value.split(/\r?\n/).filter((line) => line.trim() !== '') : value;
}

function formatScalar(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parseJsonText(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The text has another form.
    return undefined;
  }
}

/** The methods that should change nothing on a server. */
const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

interface RequestContent {
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly json?: string;
}

function chooseMethod({ method, body, json }: RequestContent): string {
  const hasBody = body !== undefined || json !== undefined;
  return method?.trim().toUpperCase() ?? (hasBody ? 'POST' : 'GET');
}

/** Reads the headers and the body of a request. Throws INVALID_PARAM. */
function readContent({ headers: lines = [], body, json }: RequestContent) {
  const headers = readHeaders(lines);
  if (json === undefined) return { headers, body };
  if (body !== undefined) {
    throw new MusterError('INVALID_PARAM', 'json: cannot be sent together with body; send one');
  }
  if (parseJsonText(json) === undefined) {
    throw new MusterError('INVALID_PARAM', 'json: is not valid JSON; send other text as body');
  }
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  return { headers: hasType ? headers : { ...headers, 'Content-Type': JSON_TYPE }, body: json };
}

const JSON_TYPE = 'application/json';

function readHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*):(.*)$/s.exec(line) ?? [];
    if (name.trim() === '' || headers.has(name)) {
      const problem = name.trim() === '' ? 'has not the form "Name: value"' : 'is given twice';
      const shown = JSON.stringify(truncate(line, MAX_SHOWN_LINE));
      throw new MusterError('INVALID_PARAM', `headers: ${shown} ${problem}`);
    }
    headers.set(name, value.trim());
  }
  return Object.fromEntries(headers);
}

const MAX_SHOWN_LINE = 60;

/** The headers that tell a client what to do next. The others, such as cookies, are not shown. */
const SHOWN_HEADERS =
  /^(?:content-type|content-disposition|content-range|location|allow|etag|last-modified|link|retry-after|www-authenticate|sunset|deprecation|x-total-count|(?:x-)?request-id|(?:x-)?ratelimit(?:-[\w-]+)?)$/;
const MAX_HEADER_LENGTH = 500;
const MAX_SHOWN_HEADERS = 20;

/** Formats a response: the status, the URL if a redirect led to another one, the main headers, and the body. */
function formatResponse(response: WebResponse, asked: URL): string {
  const { status, statusText, url, headers, redirectTo } = response;
  const reached = url.href === asked.href ? [] : [`url: ${url.href}`];
  const head = [`HTTP ${status} ${statusText}`.trimEnd(), ...reached, ...formatHeaders(headers)];
  const note =
    redirectTo === undefined
      ? []
      : [`[The redirect was not followed. Call HttpRequest again with ${redirectTo.href}]`];
  return [...head, ...note, '', formatBody(response)].join('\n');
}

function formatHeaders(headers: WebHeaders): readonly string[] {
  return [...headers]
    .filter(([name]) => SHOWN_HEADERS.test(name))
    .slice(0, MAX_SHOWN_HEADERS)
    .map(([name, value]) => {
      const text = collapseWhitespace(plainText(value));
      return `${name}: ${truncate(text, MAX_HEADER_LENGTH)}`;
    });
}

function formatBody({ body, headers, isCut }: WebResponse): string {
  if (body.length === 0) return '[no body]';
  const cut = isCut ? `\n[cut: the body is larger than the limit of ${body.length} bytes]` : '';
  const type = headers.get('content-type') ?? '';
  const charset = /;\s*charset="?([\w.:-]+)/i.exec(type)?.[1];
  const kind = detectBinaryKind(body.subarray(0, SAMPLE_BYTES));
  if (kind !== undefined && !/^utf-?16/i.test(charset ?? '')) {
    const size = plural(body.length, 'byte');
    return `[not text: ${kind}, ${size}; to keep it, download it with Bash]${cut}`;
  }
  const text = decodeBody(body, charset);
  return `${plainText(layOutJson(text, type))}${cut}`;
}

/** Decodes a body by the charset of its type. Without one that is known, its encoding is detected. */
function decodeBody(body: Buffer, charset: string | undefined): string {
  if (charset !== undefined) {
    try {
      return new TextDecoder(charset).decode(body);
    } catch (thrown) {
      // The charset is not known.
      if (!(thrown instanceof RangeError)) throw thrown;
    }
  }
  return decodeText(body, detectEncoding(body) ?? 'UTF-8').replace(BYTE_ORDER_MARK, '');
}

/** The maximum length of JSON that is laid out on several lines. */
const MAX_LAID_OUT = 8_000;
const INDENT = 2;

/** Lays out JSON that is short and has no lines yet. */
function layOutJson(text: string, type: string): string {
  const isShort = text.length <= MAX_LAID_OUT && !text.trim().includes('\n');
  if (!isShort || !/\bjson\b/i.test(type)) return text;
  try {
    const options = { indent: INDENT, sorted: false, max: MAX_LAID_OUT * 4 };
    const printed = printJsonTree(parseJson(text), options);
    return printed.isComplete ? printed.text : text;
  } catch (thrown) {
    // The type is wrong.
    if (thrown instanceof MusterError) return text;
    throw thrown;
  }
}
