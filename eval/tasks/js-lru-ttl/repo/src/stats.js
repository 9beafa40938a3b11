import { Cache } from './cache.js';

/** Creates a cache that counts hits and misses of `get`. */
export function createCountingCache(options) {
  const stats = { hits: 0, misses: 0 };
  const cache = new Cache({
    ...options,
    onGet: (hit) => {
      if (hit) stats.hits += 1;
      stats.misses += 1;
    },
  });
  return { cache, stats };
}
