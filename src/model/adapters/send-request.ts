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

/** The headers in which the packages send an API key. If there is no key, the packages send an empty header. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];

/** Observes a request and its response. */
export interface WireObserver extends TrafficObserver {
  /** Takes the headers of a response of any status. */
  responded?(headers: HttpResponse['headers']): void;
  /** Called when more arguments of a call have arrived. They are content, but the stream yields no part for them. */
  argumentsGrew?(): void;
  /** Takes the progress of the answer. Default: the stream yields the progress. */
  readonly progressed?: ((part: ProgressPart) => void) | undefined;
}

/** A response with a successful status that is not a web page. */
export type AcceptedResponse = Pick<HttpResponse, 'body'>;

/** The values that sending a request needs. */
interface SendContext {
  readonly fetch: HttpFetch;
  readonly endpoint: Endpoint;
  readonly attempt: BaseUrlAttempt;
  readonly version: string;
  readonly omittedHeaders: readonly string[];
  readonly adjustBody: (body: string) => string;
  readonly observer: WireObserver | undefined;
}

/**
 * Sends a request of a provider package, with Muster's user-agent header and without superfluous headers. Rejects with
 * HttpStatusError for an unsuccessful status, with WrongServerError for a web page, and with ReportedError for a web
 * page that reports a transient problem.
 */
export async function sendRequest(
  url: string,
  init: RequestInit,
  { fetch, endpoint, attempt, version, omittedHeaders, adjustBody, observer }: SendContext,
): Promise<AcceptedResponse> {
  const keyHeaders = endpoint.apiKey === null ? KEY_HEADERS : [];
  const headers = collectHeaders(init, new Set([...omittedHeaders, ...keyHeaders]));
  Object.assign(headers, endpoint.headers);
  headers['user-agent'] = `muster/${version}`;
  const address = attempt.toAddress(url);
  const { method = 'GET', signal } = init;
  const body = typeof init.body === 'string' ? adjustBody(init.body) : '';
  await setKey({ method, url: address, headers, body }, endpoint);
  const request = {
    method,
    headers,
    // The client for proxies refuses GET with a body, even with an empty one.
    ...(body !== '' && { body }),
    ...(signal instanceof AbortSignal && { signal }),
  };
  const response = await fetch(address, request, observer);
  observer?.responded?.(response.headers);
  if (!response.ok) {
    const { status, statusText } = response;
    const responseBody = await readBeginning(response);
    const responseHeaders = Object.fromEntries(response.headers);
    const exchange = { url: removeQuery(address), requestBody: body, status, responseBody };
    throw new HttpStatusError({ ...exchange, headers: responseHeaders }, statusText);
  }
  const inspected = await inspectResponse(response);
  if (inspected.isPage) {
    const page = await readBeginning(inspected);
    const message = describePage(page, new URL(endpoint.baseUrl).host);
    if (isTransient(message)) throw new ReportedError({ message });
    throw new WrongServerError(
      `${message} (the base URL is not that of a model API, or a proxy requires a login first: ${removeQuery(address)})`,
    );
  }
  attempt.confirm();
  return { body: inspected.body };
}

/** A request whose key is to be set. */
interface KeylessRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Matches an access token, which Azure does not expect in the header of its keys. */
const ACCESS_TOKEN = /^eyJ/;

/** Moves the API key to the header that the server expects, if the package uses another header, or signs the request. */
async function setKey(
  request: KeylessRequest,
  { apiKey, keyHeader, cloud }: Endpoint,
): Promise<void> {
  const { headers } = request;
  if (apiKey === null || keyHeader === undefined) return;
  for (const name of KEY_HEADERS) delete headers[name];
  if (keyHeader === 'aws-signature') {
    const { signRequest } = await import('./bedrock/sign-request.ts');
    Object.assign(headers, await signRequest(request, apiKey, { region: cloud?.region ?? '' }));
  } else if (keyHeader === 'authorization' || ACCESS_TOKEN.test(apiKey)) {
    headers['authorization'] = `Bearer ${apiKey}`;
  } else {
    headers[keyHeader] = apiKey;
  }
}

/** Removes the query from a URL, because it may contain an API key. */
function removeQuery(address: string): string {
  return address.replace(/\?.*$/s, '');
}

/** Returns the headers of a package's request with names in lower case, without the omitted headers. */
function collectHeaders(
  { headers }: RequestInit,
  omitted: ReadonlySet<string>,
): Record<string, string> {
  const collected: Record<string, string> = {};
  for (const [original, value] of Object.entries(headers ?? {})) {
    const name = original.toLowerCase();
    if (typeof value === 'string' && !omitted.has(name)) collected[name] = value;
  }
  return collected;
}

/**
 * The maximum number of bytes of an error body that are read. The message of an error is one line; longer bodies are
 * web pages of proxies.
 */
const MAX_ERROR_BYTES = 65_536;

/**
 * Reads the beginning of an error body without waiting for the rest. If the connection breaks, the text that has
 * arrived is returned, because the status alone is enough to handle the error.
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
    // The connection broke, so the text that has arrived is returned.
  }
  return text;
}

/** Matches content types that servers and proxies never use for a web page. */
const ANSWER_TYPE = /^(?:text\/event-stream|application\/(?:[\w.+-]+\+)?(?:x-)?(?:nd)?json)/i;
const PAGE_TYPE = /^(?:text\/html|application\/xhtml)/i;

/** Matches the beginning of a JSON document, or a comment or field of a stream. */
const ANSWER = /^(?:[{[:]|(?:data|event|id|retry|error):)/;
/** Matches the beginning of a field name of a stream. More text is needed to decide the kind of such a body. */
const UNFINISHED_FIELD =
  /^(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?|r(?:r(?:or?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)?$/;
/** The number of bytes that may pass before the content type decides: a server may send blanks for ever. */
const MAX_UNDECIDED_BYTES = 4096;
/** The number of characters that are needed to distinguish a web page from other text that begins with `<`. */
const DECIDING_LENGTH = 16;

/** The kind of a body. `undecided`: more text is needed to decide the kind. */
type ResponseKind = 'answer' | 'page' | 'undecided';

/**
 * Classifies a body as an answer or a web page by its first characters. The content type decides only about text that
 * does not begin like an answer, because some servers and proxies send streams as `text/html`.
 */
export function classifyResponse(text: string, contentType: string): ResponseKind {
  const start = text.trimStart();
  if (UNFINISHED_FIELD.test(start)) return 'undecided';
  if (ANSWER.test(start)) return 'answer';
  if (PAGE_TYPE.test(contentType) || isWebPage(start)) return 'page';
  return start.startsWith('<') && start.length < DECIDING_LENGTH ? 'undecided' : 'answer';
}

/** A body whose beginning has been inspected. */
interface InspectedBody {
  readonly isPage: boolean;
  /** The full body, including its beginning. */
  readonly body: ResponseBody | null;
}

/** Finds out whether a body is a web page. If the content type does not decide this, reads as much of the body as needed. */
async function inspectResponse({ headers, body }: HttpResponse): Promise<InspectedBody> {
  const type = headers.get('content-type') ?? '';
  if (ANSWER_TYPE.test(type) || body === null) return { isPage: PAGE_TYPE.test(type), body };
  const decoder = new TextDecoder();
  const pieces: Uint8Array[] = [];
  let text = '';
  let length = 0;
  let kind: ResponseKind = 'undecided';
  while (kind === 'undecided') {
    const piece = length < MAX_UNDECIDED_BYTES ? await body.read() : null;
    // The beginning does not decide the kind. The content type decides then, also for an empty body.
    if (piece === null) return { isPage: PAGE_TYPE.test(type), body: prependPieces(pieces, body) };
    length += piece.length;
    // The piece is copied, because its memory is reused for the next piece.
    pieces.push(piece.slice());
    // Blank text at the beginning does not decide the kind, so it is not inspected again.
    text = (text + decoder.decode(piece, { stream: true })).trimStart();
    kind = classifyResponse(text, type);
  }
  return { isPage: kind === 'page', body: prependPieces(pieces, body) };
}

/** Returns a body that yields the pieces that were already read, and then the rest of the original body. */
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
