import type { ProgressPart } from '../../protocol/model.ts';
import { HttpStatusError, ReportedError, WrongServerError } from './errors/answer-errors.ts';
import type { Endpoint } from './protocol-adapter.ts';
import type { BaseUrlAttempt } from './adjust/base-url-probe.ts';
import { isTransient, describePage } from './errors/error-body.ts';
import type {
  HttpFetch,
  HttpResponse,
  TrafficObserver,
  ResponseBody,
} from '../../sys/http/http-types.ts';
import { isWebPage } from './errors/markup.ts';

/** The headers in which the packages send a key. Without a key they send them empty. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];

/** Observes a request and its response. */
export interface WireObserver extends TrafficObserver {
  /** Takes the headers of a response of any status. */
  responded?(headers: HttpResponse['headers']): void;
  /** Is called when more arguments of a call have come, which are content but no part of the stream. */
  argumentsGrew?(): void;
  /** Takes the visible progress of the answer. Default: it is part of the stream. */
  readonly progressed?: ((part: ProgressPart) => void) | undefined;
}

/** A successful response that is no web page. */
export type AcceptedResponse = Pick<HttpResponse, 'body'>;

/** The circumstances in which a request is sent. */
interface SendContext {
  readonly fetch: HttpFetch;
  readonly endpoint: Endpoint;
  readonly attempt: BaseUrlAttempt;
  readonly version: string;
  readonly dropHeaders: readonly string[];
  readonly adjustBody: (body: string) => string;
  readonly observer: WireObserver | undefined;
}

/**
 * Sends a request of a provider package, with our own user-agent header and without superfluous headers. Rejects
 * with HttpRefusal for an unsuccessful status, and with WrongServerError for a web page.
 */
export async function sendRequest(
  url: string,
  init: RequestInit,
  { fetch, endpoint, attempt, version, dropHeaders, adjustBody, observer }: SendContext,
): Promise<AcceptedResponse> {
  const keyHeaders = endpoint.apiKey === null ? KEY_HEADERS : [];
  const headers = collectHeaders(init, new Set([...dropHeaders, ...keyHeaders]));
  Object.assign(headers, endpoint.headers);
  headers['user-agent'] = `muster/${version}`;
  setKey(headers, endpoint);
  const address = attempt.addressOf(url);
  const { method = 'GET', signal } = init;
  const sent = typeof init.body === 'string' ? adjustBody(init.body) : '';
  const request = {
    method,
    headers,
    // The client for proxies accepts no body with GET, not even an empty one.
    ...(method !== 'GET' && { body: sent }),
    ...(signal instanceof AbortSignal && { signal }),
  };
  const response = await fetch(address, request, observer);
  observer?.responded?.(response.headers);
  if (!response.ok) {
    const { status, statusText } = response;
    const answered = {
      headers: Object.fromEntries(response.headers),
      body: await readBeginning(response),
    };
    throw new HttpStatusError(
      { url: removeQuery(address), status, ...answered, requestBody: sent },
      statusText,
    );
  }
  const { isPage, body } = await inspectResponse(response);
  if (isPage) {
    const page = await readBeginning({ body });
    const message = describePage(page, new URL(endpoint.baseUrl).host);
    if (isTransient(message)) throw new ReportedError({ message });
    throw new WrongServerError(
      `${message} (the base URL is not that of a model API, or a proxy requires a login first: ${removeQuery(address)})`,
    );
  }
  attempt.confirm();
  return { body };
}

/** Moves the key to the header that the server expects, if it differs from that of the package. */
function setKey(headers: Record<string, string>, { apiKey, keyHeader }: Endpoint): void {
  if (apiKey === null || keyHeader === undefined) return;
  for (const name of KEY_HEADERS) delete headers[name];
  headers[keyHeader] = keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey;
}

/** Removes the query, which may contain a key. */
function removeQuery(address: string): string {
  return address.replace(/\?.*$/s, '');
}

/** Returns the headers that a package gives as a plain object, in lower case and without the dropped ones. */
function collectHeaders(
  { headers }: RequestInit,
  dropped: ReadonlySet<string>,
): Record<string, string> {
  const collected: Record<string, string> = {};
  for (const [original, value] of Object.entries(headers ?? {})) {
    const name = original.toLowerCase();
    if (typeof value === 'string' && !dropped.has(name)) collected[name] = value;
  }
  return collected;
}

/**
 * The maximum number of bytes of an error body that are read. Its message is one line; longer bodies are pages of
 * proxies.
 */
const MAX_ERROR_BYTES = 65_536;

/**
 * Reads the beginning of an error body without waiting for the rest. If the connection breaks, it returns what
 * has come, since the status alone is enough to handle the error.
 */
async function readBeginning({ body }: Pick<HttpResponse, 'body'>): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let remaining = MAX_ERROR_BYTES;
  try {
    while (remaining > 0) {
      const piece = await body.read();
      if (piece === null) return text + decoder.decode();
      text += decoder.decode(piece.subarray(0, remaining), { stream: true });
      remaining -= piece.length;
    }
    await body.cancel();
  } catch {
    // The connection broke: the text so far is returned.
  }
  return text;
}

/** Matches the content types with which no server and no proxy sends a web page. */
const ANSWER_TYPE = /^(?:text\/event-stream|application\/(?:[\w.+-]+\+)?(?:x-)?(?:nd)?json)/i;
const PAGE_TYPE = /^(?:text\/html|application\/xhtml)/i;

/** Matches the beginning of a JSON document, or a comment or field of a stream. */
const ANSWER = /^(?:[{[:]|(?:data|event|id|retry|error):)/;
/** Matches the beginning of a field name, after which the kind of the body is still unknown. */
const UNFINISHED_FIELD =
  /^(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?|r(?:r(?:or?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)?$/;
/** The number of characters that distinguish a web page from other text that begins with `<`. */
const DECIDING_LENGTH = 16;

/** The kind of a body. `undecided`: more of it is needed. */
type ResponseKind = 'answer' | 'page' | 'undecided';

/**
 * Classifies a body as an answer or a web page by its first characters. The content type decides only about text
 * that is neither, since some servers and proxies send streams as `text/html`.
 */
export function classifyResponse(text: string, contentType: string): ResponseKind {
  const start = text.trimStart();
  if (UNFINISHED_FIELD.test(start)) return 'undecided';
  if (ANSWER.test(start)) return 'answer';
  if (PAGE_TYPE.test(contentType) || isWebPage(start)) return 'page';
  return start.startsWith('<') && start.length < DECIDING_LENGTH ? 'undecided' : 'answer';
}

/** A body of which the beginning has been inspected. */
interface InspectedBody {
  readonly isPage: boolean;
  /** The full body, including its beginning. */
  readonly body: ResponseBody | null;
}

/** Finds out if a body is a web page. Reads as much of it as needed if its content type does not say so. */
async function inspectResponse({ headers, body }: HttpResponse): Promise<InspectedBody> {
  const type = headers.get('content-type') ?? '';
  if (ANSWER_TYPE.test(type) || body === null) return { isPage: PAGE_TYPE.test(type), body };
  const decoder = new TextDecoder();
  const pieces: Uint8Array[] = [];
  let text = '';
  let kind: ResponseKind = 'undecided';
  while (kind === 'undecided') {
    const piece = await body.read();
    // The body has ended without showing its kind. An empty page is a page.
    if (piece === null) return { isPage: PAGE_TYPE.test(type), body: prependPieces(pieces, body) };
    // The piece is copied, since its memory is reused for the next one.
    pieces.push(piece.slice());
    // Blank text is kept for the reader, but need not be inspected again.
    text = (text + decoder.decode(piece, { stream: true })).trimStart();
    kind = classifyResponse(text, type);
  }
  return { isPage: kind === 'page', body: prependPieces(pieces, body) };
}

/** Returns a body that gives pieces that were read before, and then the rest. */
function prependPieces(pieces: readonly Uint8Array[], body: ResponseBody): ResponseBody {
  let next = 0;
  return {
    read: () => {
      const piece = pieces[next];
      next += 1;
      return piece === undefined ? body.read() : Promise.resolve(piece);
    },
    cancel: () => body.cancel(),
  };
}
