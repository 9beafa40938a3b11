import { systemClock } from '../../base/clock.ts';
import { UsageError } from '../../base/errors.ts';
import { lazy } from '../../base/lazy.ts';
import { VERSION } from '../../base/version.ts';
import type { Config } from '../../config/config.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { ModelSetup } from '../../model/selection/choose-model.ts';
import {
  canSearchWeb,
  type ConfiguredProvider,
} from '../../model/providers/configured-provider.ts';
import { type WebAccess } from '../../protocol/web.ts';
import {
  SEARCH_SERVICES,
  type SearchServiceName,
  type WebSearchPort,
} from '../../protocol/web-search.ts';
import type { Environment } from '../../sys/env.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import type { ConfiguredSearch } from '../../web/search/search-web.ts';
import { SERVICES } from '../../web/search/search-services.ts';

/** Returns a function that loads the web client at the first use. */
export function loadWebAccess(env: Environment): () => Promise<WebAccess> {
  return lazy(async () => {
    const { createWebAccess } = await import('../../web/web-access.ts');
    return createWebAccess({ env, clock: systemClock, version: VERSION });
  });
}

/** The facts on which the choice of a search depends. */
interface SearchSetup {
  readonly config: Config['web'];
  readonly env: Environment;
  /** The provider of the main agent's model; undefined: the offline engine. */
  readonly provider: ConfiguredProvider | undefined;
}

/** The search of a session, or the reason why there is none. */
type SearchChoice =
  | { readonly kind: 'service'; readonly configured: ConfiguredSearch }
  | { readonly kind: 'provider' }
  | { readonly kind: 'none'; readonly reason: string };

/**
 * Chooses who answers WebSearch. Throws UsageError if the configuration names a service without its key or address.
 */
export function chooseSearch({ config, env, provider }: SearchSetup): SearchChoice {
  const { search, searxngUrl } = config;
  const canProviderSearch = provider !== undefined && canSearchWeb(provider);
  switch (search) {
    case 'off':
      return { kind: 'none', reason: 'it is switched off (web.search = "off")' };
    case 'provider':
      if (canProviderSearch) return { kind: 'provider' };
      throw new UsageError(
        'web.search = "provider": the provider of the model cannot search the web. Name a service instead: brave, tavily, exa, serper or searxng.',
      );
    case 'auto': {
      const found = SEARCH_SERVICES.map((name) => findService(name, { env, searxngUrl }));
      const configured = found.find((each) => each !== null);
      if (configured !== undefined) return { kind: 'service', configured };
      if (canProviderSearch) return { kind: 'provider' };
      return { kind: 'none', reason: NOT_CONFIGURED };
    }
    default: {
      const configured = findService(search, { env, searxngUrl });
      if (configured !== null) return { kind: 'service', configured };
      const [variable] = SERVICES[search].variables;
      const needed = search === 'searxng' ? 'its address in web.searxng_url' : 'its key';
      throw new UsageError(`web.search = "${search}" needs ${needed} or ${variable}.`);
    }
  }
}

const NOT_CONFIGURED =
  'no search service is configured (set BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY, SERPER_API_KEY or SEARXNG_URL)';

interface ServiceSources {
  readonly env: Environment;
  readonly searxngUrl: string | null;
}

/** Finds the key or the address of a service. Returns null if there is none. */
function findService(
  service: SearchServiceName,
  { env, searxngUrl }: ServiceSources,
): ConfiguredSearch | null {
  const { baseUrl, variables } = SERVICES[service];
  const value = variables.map((name) => env[name]?.trim() ?? '').find((text) => text !== '');
  if (service !== 'searxng') {
    return value === undefined ? null : { service, access: { baseUrl, key: value } };
  }
  const address = searxngUrl ?? value;
  if (address === undefined) return null;
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const source = searxngUrl === null ? 'SEARXNG_URL' : 'web.searxng_url';
    throw new UsageError(`${source} is not the address of a server, such as http://localhost:8888`);
  }
  return { service, access: { baseUrl: address.replace(/\/+$/, ''), key: '' } };
}

/** The models of a session, as far as its search depends on them. */
interface SearchingModels {
  readonly listing: { readonly setup: Pick<ModelSetup, 'providers'>; readonly fetch: HttpFetch };
  /** The model of the main agent. */
  readonly main: ResolvedModel;
}

/** Opens the search of a session. Returns null if there is none. Throws UsageError for a wrong configuration. */
export function openSearch(
  config: Config['web'],
  env: Environment,
  { listing, main }: SearchingModels,
): WebSearchPort | null {
  const provider = listing.setup.providers.find(({ name }) => name === main.provider);
  return createSearchPort(chooseSearch({ config, env, provider }), listing.fetch);
}

/** Creates the port for a chosen search. Returns null if there is none. */
function createSearchPort(choice: SearchChoice, fetch: HttpFetch): WebSearchPort | null {
  switch (choice.kind) {
    case 'none':
      return null;
    case 'provider':
      return async (query, call) => {
        const { searchByProvider } = await import('../../web/search/provider-search.ts');
        return await searchByProvider(query, call);
      };
    case 'service':
      return async (query, { signal }) => {
        const { searchWeb } = await import('../../web/search/search-web.ts');
        const pages = await searchWeb(choice.configured, query, { fetch, signal });
        return { pages, summary: '' };
      };
  }
}
