import type { HttpFetch, HttpResponse, TrafficObserver } from '../../sys/http-types.ts';
import type { ProgressPart } from '../../protocol/model.ts';
import type { Endpoint } from './dialect.ts';
import { WrongServer } from './failure.ts';
import { withShortBody } from './refusal-body.ts';

/** Where the packages put a key; without one they send the header all the same, empty. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];

/** What can be seen of a request and its response. */
export interface WireObserver extends TrafficObserver {
  /** The head of the response is there, whatever its status. */
  responded?(headers: HttpResponse['headers']): void;
  /** More of a call's arguments came: content that is no part of the stream. */
  argumentsGrew?(): void;
  /** Takes what is shown of the answer, in place of a part of the stream. */
  readonly progressed?: ((part: ProgressPart) => void) | undefined;
}

/** Who watches a request, and is told when its response turns out to be an answer. */
export interface ResponseWatch extends WireObserver {
  isAnswer(): void;
}

/** The fetch that a provider package gets: our own user agent, and nothing sent that need not be. */
export function endpointFetch(
  fetch: HttpFetch,
  endpoint: Endpoint,
  options: {
    readonly version: string;
    readonly dropHeaders: readonly string[];
    readonly adjustBody: (body: string) => string;
  },
  watch: ResponseWatch,
): typeof globalThis.fetch {
  const dropped = new Set([
    ...options.dropHeaders,
    ...(endpoint.apiKey === null ? KEY_HEADERS : []),
  ]);
  const ask = async (url: string | URL, init: RequestInit = {}): Promise<HttpResponse> => {
    const headers = headersOf(init, dropped);
    headers['user-agent'] = `muster/${options.version}`;
    const { method = 'GET', signal } = init;
    const response = await fetch(
      url,
      {
        method,
        headers,
        ...(typeof init.body === 'string' ? { body: options.adjustBody(init.body) } : {}),
        ...(signal instanceof AbortSignal ? { signal } : {}),
      },
      watch,
    );
    watch.responded?.(response.headers);
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type.toLowerCase().startsWith('text/html')) {
      await response.body?.cancel();
      throw new WrongServer(
        `${endpoint.baseUrl} answers with a web page: its base URL is not that of a model API`,
      );
    }
    if (!response.ok) return withShortBody(response);
    watch.isAnswer();
    return response;
  };
  // The packages use of a `Response` what an HttpResponse has; a real one costs 30 ms to load.
  return ask as unknown as typeof globalThis.fetch;
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
