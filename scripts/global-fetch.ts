import type { Plugin } from 'rolldown';

const ID = '\0global-fetch';

/**
 * Replaces the package `node-fetch` by Node's own `fetch`. Google's library loads it for requests that get no client of
 * their own, and src/keys/clouds/google.ts gives them Muster's client.
 */
export function globalFetchPlugin(): Plugin {
  return {
    name: 'global-fetch',
    resolveId: {
      filter: { id: /^node-fetch$/ },
      handler: () => ({ id: ID, moduleSideEffects: false }),
    },
    load: {
      filter: { id: new RegExp(`^${ID}$`) },
      handler: () => ({ code: 'export default globalThis.fetch;', moduleType: 'js' }),
    },
  };
}
