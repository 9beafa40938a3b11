import type { HttpFetch, HttpResponse, TrafficObserver } from '../../sys/http/http-types.ts';
import type { ProgressPart } from '../../protocol/model.ts';
import { Refusal, ReportedError, WrongServer } from './answer-errors.ts';
import { seeBeginning } from './answer-beginning.ts';
import type { AskedServer } from './asked-server.ts';
import type { ProbeAttempt } from './base-url-probe.ts';
import { beginningOf } from './refusal-body.ts';
import { isTransient } from './readers/unusable-body.ts';
import { pageSays } from './server-says.ts';

/** The headers in which the packages send a key; without a key they send them empty. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];

/** Observes a request and its response. */
export interface WireObserver extends TrafficObserver {
  /** The head of the response is there, whatever its status. */
  responded?(headers: HttpResponse['headers']): void;
  /** More of a call's arguments came: content that is no part of the stream. */
  argumentsGrew?(): void;
  /** Takes what is shown of the answer, in place of a part of the stream. */
  readonly progressed?: ((part: ProgressPart) => void) | undefined;
}

/** A response whose status is one of success and that is no web page. */
export type AcceptedResponse = Pick<HttpResponse, 'body'>;

type Ask = (url: string, init?: RequestInit) => Promise<AcceptedResponse>;

/**
 * Sends a request as its package built it: with our own user agent, and nothing that need not be sent.
 * Rejects with a Refusal for a status that is not one of success, and with WrongServer for a web page.
 */
export function endpointFetch(
  fetch: HttpFetch,
  endpoint: AskedServer,
  options: {
    readonly attempt: ProbeAttempt;
    readonly version: string;
    readonly dropHeaders: readonly string[];
    readonly adjustBody: (body: string) => string;
  },
  observer: WireObserver | undefined,
): Ask {
  const dropped = new Set([
    ...options.dropHeaders,
    ...(endpoint.apiKey === null ? KEY_HEADERS : []),
  ]);
  return async (url, init = {}) => {
    const headers = headersOf(init, dropped);
    headers['user-agent'] = `muster/${options.version}`;
    setKey(headers, endpoint);
    const address = options.attempt.addressOf(url);
    const { method = 'GET', signal } = init;
    const sent = typeof init.body === 'string' ? options.adjustBody(init.body) : '';
    const response = await fetch(
      address,
      { method, headers, body: sent, ...(signal instanceof AbortSignal ? { signal } : {}) },
      observer,
    );
    observer?.responded?.(response.headers);
    if (!response.ok) {
      throw new Refusal({
        url: withoutQuery(address),
        status: response.status,
        statusText: response.statusText,
        headers: Object.fromEntries(response.headers),
        body: await beginningOf(response),
        sent,
      });
    }
    const { isPage, body } = await seeBeginning(response);
    if (isPage) {
      const page = await beginningOf({ body });
      const says = pageSays(page, new URL(endpoint.baseUrl).host);
      if (isTransient(says)) throw new ReportedError({ message: says });
      throw new WrongServer(
        `${says} (its base URL is not that of a model API, or a proxy wants something first: ${withoutQuery(address)})`,
      );
    }
    options.attempt.answered();
    return { body };
  };
}

/** Puts the key into the header that the server has it in, where that is not the one of the package. */
function setKey(headers: Record<string, string>, { apiKey, keyHeader }: AskedServer): void {
  if (apiKey === null || keyHeader === undefined) return;
  for (const name of KEY_HEADERS) delete headers[name];
  headers[keyHeader] = keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey;
}

/** A query may hold a key. */
function withoutQuery(address: string): string {
  return address.replace(/\?.*$/s, '');
}

/** The packages give them as a plain object. In lower case, and without those that are dropped. */
function headersOf({ headers }: RequestInit, dropped: ReadonlySet<string>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [given, value] of Object.entries(headers ?? {})) {
    const name = given.toLowerCase();
    if (typeof value === 'string' && !dropped.has(name)) found[name] = value;
  }
  return found;
}
