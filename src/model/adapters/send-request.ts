import type { ProgressPart } from '../../protocol/model.ts';
import { HttpRefusal, ReportedError, WrongServerError } from './errors/answer-errors.ts';
import { inspectResponse } from './answers/response-kind.ts';
import type { Endpoint } from './protocol-adapter.ts';
import type { BaseUrlAttempt } from './adjust/base-url-probe.ts';
import { isTransient } from './errors/unusable-body.ts';
import { describePage } from './errors/error-body.ts';
import type { HttpFetch, HttpResponse, TrafficObserver } from '../../sys/http/http-types.ts';

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
  headers['user-agent'] = `muster/${version}`;
  setKey(headers, endpoint);
  const address = attempt.addressOf(url);
  const { method = 'GET', signal } = init;
  const sent = typeof init.body === 'string' ? adjustBody(init.body) : '';
  const request = { method, headers, body: sent, ...(signal instanceof AbortSignal && { signal }) };
  const response = await fetch(address, request, observer);
  observer?.responded?.(response.headers);
  if (!response.ok) {
    throw new HttpRefusal({
      url: removeQuery(address),
      status: response.status,
      statusText: response.statusText,
      headers: Object.fromEntries(response.headers),
      body: await readBeginning(response),
      sent,
    });
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

/** The most bytes of an error body that are read. Its message is one line; longer bodies are pages of proxies. */
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
