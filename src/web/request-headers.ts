import { MusterError } from '../base/errors.ts';
import { HeaderMap } from '../sys/http/header-map.ts';

/** The methods that a request can have. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Tells whether a method only reads, so that a request may be repeated and may follow redirects to other hosts. */
export function isReadingMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Returns a method in upper case. Throws INVALID_PARAM for an unknown one. */
export function parseMethod(text: string): string {
  const method = text.toUpperCase();
  if (METHODS.includes(method)) return method;
  const message = `method: ${JSON.stringify(text.slice(0, MAX_SHOWN))} cannot be sent; valid: ${METHODS.join(', ')}`;
  throw new MusterError('INVALID_PARAM', message);
}

const MAX_SHOWN = 40;
const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** Printable ASCII and Latin-1. Line ends would begin another header. */
const VALUE = /^[\t\x20-\x7e\xa0-\xff]*$/;
const MAX_HEADER_BYTES = 16_384;

/** The headers that describe the connection or the client. Only Muster sets them. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/** Reads the headers that a tool sets. Throws INVALID_PARAM for a header that cannot be sent. */
export function parseHeaders(given: Readonly<Record<string, string>>): HeaderMap {
  const headers = new HeaderMap();
  let size = 0;
  for (const [name, value] of Object.entries(given)) {
    const problem = findHeaderProblem(name, value, headers);
    if (problem !== null) {
      const shown = JSON.stringify(name.slice(0, MAX_SHOWN));
      throw new MusterError('INVALID_PARAM', `headers: ${shown} ${problem}`);
    }
    headers.set(name, value.trim());
    size += name.length + value.length;
  }
  if (size <= MAX_HEADER_BYTES) return headers;
  throw new MusterError('INVALID_PARAM', `headers: are larger than ${MAX_HEADER_BYTES} bytes`);
}

function findHeaderProblem(name: string, value: string, known: HeaderMap): string | null {
  if (!TOKEN.test(name)) return 'is not the name of a header';
  if (/[\r\n\0]/.test(value))
    return 'has a value with a line end, which could begin another header';
  if (!VALUE.test(value)) return 'has a value with characters other than Latin letters and signs';
  if (known.has(name)) return 'is given twice';
  const isReserved = RESERVED_HEADERS.has(name.toLowerCase()) || /^(?:proxy-|sec-)/i.test(name);
  return isReserved ? 'is set by Muster and cannot be changed; leave it out' : null;
}

/** The headers that are sent to another origin after a redirect. All others could contain a key. */
const SHAREABLE_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'range',
]);

/** Returns the headers that another origin gets. */
export function headersForOtherOrigin(headers: HeaderMap): HeaderMap {
  return new HeaderMap([...headers].filter(([name]) => SHAREABLE_HEADERS.has(name)));
}

/** Returns the headers of a request without those that describe a body. */
export function headersWithoutBody(headers: HeaderMap): HeaderMap {
  return new HeaderMap([...headers].filter(([name]) => !name.startsWith('content-')));
}

const DEFAULT_ACCEPT =
  'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5';
const HOMEPAGE = 'https://github.com/muster-agent/muster';

/** The headers of every request. */
export interface ClientHeaders {
  /** Muster's version. */
  readonly version: string;
  /** The value of Accept-Encoding. */
  readonly encodings: string;
}

/** Returns the headers of a request on the wire. The user agent says what Muster is. */
export function wireHeaders(
  headers: HeaderMap,
  { version, encodings }: ClientHeaders,
): Readonly<Record<string, string>> {
  return {
    accept: DEFAULT_ACCEPT,
    ...Object.fromEntries(headers),
    'accept-encoding': encodings,
    'user-agent': `Muster/${version} (+${HOMEPAGE})`,
  };
}
