import type { WebAccess } from '../protocol/web.ts';
import { createWebClient, type WebClient, type WebClientOptions } from './client.ts';
import { createPageCache } from './page-cache.ts';

/** The maximum number of trees whose pages are kept. */
const MAX_TREES = 8;

/** Creates the access of a process to the web: one client, and a cache of pages for each tree of tasks. */
export function createWebAccess(options: WebClientOptions): WebAccess {
  const client = createWebClient(options);
  const caches = new Map<string, WebClient>();
  return {
    send: (request) => client.send(request),
    getCached: (tree, request) => {
      const cache = caches.get(tree) ?? createPageCache({ client, clock: options.clock });
      caches.delete(tree);
      caches.set(tree, cache);
      const [oldest] = caches.keys();
      if (oldest !== undefined && caches.size > MAX_TREES) caches.delete(oldest);
      return cache.send(request);
    },
  };
}
