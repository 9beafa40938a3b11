import { isJsonObject } from '../../base/json.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { LM_STUDIO_PORT, OLLAMA_PORT } from '../providers/vendors.ts';

/** A server that states more about its models at addresses of its own than in the list of its protocol. */
export type NativeServer =
  | 'cerebras'
  | 'fireworks'
  | 'github-models'
  | 'litellm'
  | 'llamacpp'
  | 'lmstudio'
  | 'ollama'
  | 'xai';

type Server = Pick<ConfiguredProvider, 'name' | 'baseUrl'>;

const HOSTS: Readonly<Record<string, NativeServer>> = {
  'api.cerebras.ai': 'cerebras',
  'api.fireworks.ai': 'fireworks',
  'models.github.ai': 'github-models',
  'api.x.ai': 'xai',
  'ollama.com': 'ollama',
};
const PORTS: Readonly<Record<string, NativeServer>> = {
  [LM_STUDIO_PORT]: 'lmstudio',
  [OLLAMA_PORT]: 'ollama',
};
const NAMES: readonly NativeServer[] = ['litellm', 'llamacpp', 'lmstudio', 'ollama'];

/** Finds the kind of a server by its address and name; null: only its answer can tell. */
export function findNativeServer({ name, baseUrl }: Server): NativeServer | null {
  const { hostname, port } = new URL(baseUrl);
  return (
    (Object.hasOwn(HOSTS, hostname) ? HOSTS[hostname] : undefined) ??
    NAMES.find((one) => one === name) ??
    (Object.hasOwn(PORTS, port) ? PORTS[port] : undefined) ??
    null
  );
}

/** The owners that servers write into the entries of their list. */
const OWNERS: Readonly<Record<string, NativeServer>> = {
  library: 'ollama',
  llamacpp: 'llamacpp',
  organization_owner: 'lmstudio',
};
/** The constant that LiteLLM writes into each entry. */
const LITELLM_CREATED = 1_677_610_602;

/** Recognizes a server by the entries of its list; null: by none of them. */
export function recognizeServer(entries: readonly unknown[]): NativeServer | null {
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue;
    const { owned_by: owner, created } = entry;
    if (created === LITELLM_CREATED && owner === 'openai') return 'litellm';
    if (typeof owner === 'string' && Object.hasOwn(OWNERS, owner)) return OWNERS[owner] ?? null;
  }
  return null;
}

/** The addresses of a server's own list. */
export interface NativeList {
  /** The addresses. The first one that answers with a list counts. */
  readonly urls: readonly string[];
  /** True if models that only this list contains can be used, too. */
  readonly addsModels: boolean;
}

/** Returns the addresses of a server's own list; null: it has no list of its own, or needs several requests. */
export function nativeList(server: NativeServer, { baseUrl }: Server): NativeList | null {
  const { origin } = new URL(baseUrl);
  const root = rootOf(baseUrl);
  switch (server) {
    case 'cerebras':
      return { urls: [`${origin}/public/v1/models`], addsModels: false };
    case 'fireworks':
      return {
        urls: [
          `${origin}/v1/accounts/fireworks/models?filter=supports_serverless%3Dtrue&pageSize=200`,
        ],
        addsModels: false,
      };
    case 'github-models':
      return { urls: [`${origin}/catalog/models`], addsModels: true };
    case 'litellm':
      return { urls: [`${root}/v1/model/info`], addsModels: false };
    case 'lmstudio':
      return { urls: [`${root}/api/v1/models`, `${root}/api/v0/models`], addsModels: true };
    case 'ollama':
      return { urls: [`${root}/api/tags`], addsModels: true };
    case 'xai':
      return { urls: [`${baseUrl}/language-models`], addsModels: false };
    case 'llamacpp':
      return null;
    default:
      return server satisfies never;
  }
}

/** Returns a base URL without the version at its end. */
export function rootOf(baseUrl: string): string {
  return baseUrl.replace(/\/v\d+\w*$/, '');
}
