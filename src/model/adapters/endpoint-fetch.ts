import type { HttpFetch, TrafficObserver } from '../../sys/http.ts';
import type { Endpoint } from './dialect.ts';
import { WrongServer } from './failure.ts';

/** Where the packages put a key; without one they send the header all the same, empty. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];

/** Who watches a request, and is told when its response turns out to be an answer. */
export interface ResponseWatch extends TrafficObserver {
  isAnswer(): void;
}

/** The fetch that a provider package gets: our own user agent, and nothing sent that need not be. */
export function endpointFetch(
  fetch: HttpFetch,
  endpoint: Endpoint,
  { version, dropHeaders }: { readonly version: string; readonly dropHeaders: readonly string[] },
  watch: ResponseWatch,
): typeof globalThis.fetch {
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('user-agent', `muster/${version}`);
    for (const name of dropHeaders) headers.delete(name);
    if (endpoint.apiKey === null) for (const name of KEY_HEADERS) headers.delete(name);
    // A redirect would carry the key to another server.
    const response = await fetch(url, { ...init, headers, redirect: 'error' }, watch);
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type.startsWith('text/html')) {
      await response.body?.cancel();
      throw new WrongServer(
        `${endpoint.baseUrl} answers with a web page: its base URL is not that of a model API`,
      );
    }
    if (response.ok) watch.isAnswer();
    return response;
  };
}
