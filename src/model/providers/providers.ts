import { UsageError } from '../../base/errors.ts';
import type { Tier } from '../../protocol/model.ts';
import type { Environment } from '../../sys/env.ts';
import {
  type ParsedBaseUrl,
  type CandidateUrls,
  findCandidateUrls,
  toOllamaApiUrl,
  parseOllamaHost,
  parseBaseUrl,
} from './base-url.ts';
import {
  OLLAMA_PORT,
  type ProtocolName,
  VENDORS,
  type Vendor,
  isPrivateHost,
  findVendorByUrl,
} from './vendors.ts';
import { type KeyHeader, type ProviderKey, readProviderKey } from './provider-key.ts';
import type {
  AdjustmentName,
  ModelSettings,
  ProviderKind,
  ProviderSettings,
} from '../settings/model-settings.ts';

/** A configured provider. It may lack a usable key. */
export interface ConfiguredProvider extends CandidateUrls, ProviderKey {
  readonly name: string;
  readonly protocol: ProtocolName;
  /** The setting that configures it, for messages. */
  readonly source: string;
  /** The vendor whose models it serves under the vendor's own ids; null: it may serve any models. */
  readonly vendor: Vendor | null;
  /** The models for the tiers, as far as they are known. */
  readonly tiers: Readonly<Partial<Record<Tier, string>>>;
  /** The ids that it is known to serve in addition to the vendor's; null: they are not known. */
  readonly models: readonly string[] | null;
  /** True for a server on this machine or network. */
  readonly isPrivate: boolean;
  /** The parts that are left out of its requests. Default: none, until the server refuses one. */
  readonly omit?: readonly AdjustmentName[];
}

/**
 * Finds the providers in the configuration and the environment, in the order that docs/configuration.md states.
 * Names are unique: the first provider of a name is used. Throws UsageError for an invalid setting.
 */
export function discoverProviders(
  settings: ModelSettings,
  env: Environment,
): readonly ConfiguredProvider[] {
  const found = [
    ...Object.entries(settings.providers).map(([name, own]) => fromSettings(name, own, env)),
    ...fromLlmVariables(env),
    ...VENDOR_NAMES.flatMap((vendor) => fromVendorVariables(vendor, env)),
    ...fromOllamaHost(env),
  ];
  const byName = new Map<string, ConfiguredProvider>();
  for (const provider of found) {
    if (!byName.has(provider.name)) byName.set(provider.name, provider);
  }
  return [...byName.values()];
}

const VENDOR_NAMES: readonly Vendor[] = ['anthropic', 'openai', 'google'];

/** Returns true if a name is that of a known vendor. */
export function isVendor(name: string): name is Vendor {
  return Object.hasOwn(VENDORS, name);
}

interface ProviderDraft
  extends
    Pick<ConfiguredProvider, 'name' | 'protocol' | 'source' | 'vendor'>,
    Partial<Pick<ConfiguredProvider, 'tiers' | 'models'>> {
  readonly url: ParsedBaseUrl;
  readonly key: ProviderKey;
}

/** Creates a provider from its settings. Tiers default to those of its vendor. */
function createProvider(draft: ProviderDraft): ConfiguredProvider {
  const { url, key, ...stated } = draft;
  const urls = findCandidateUrls(url, draft.protocol);
  return {
    tiers: draft.vendor === null ? {} : VENDORS[draft.vendor].tiers,
    models: null,
    ...stated,
    ...urls,
    ...key,
    ...keyHeaderOf(draft),
    isPrivate: isPrivateHost(urls.baseUrl),
  };
}

function fromSettings(
  name: string,
  settings: ProviderSettings,
  env: Environment,
): ConfiguredProvider {
  const setting = `models.providers.${name}`;
  if (name === 'offline') {
    throw new UsageError(`${setting}: the name "offline" is reserved; choose another one`);
  }
  if (!/^[a-z0-9][a-z0-9_.-]*$/i.test(name)) {
    throw new UsageError(
      `${setting}: the name of a provider begins with a letter or digit and has only letters, digits, ".", "_" and "-"`,
    );
  }
  const configured =
    settings.baseUrl === undefined ? null : parseBaseUrl(settings.baseUrl, `${setting}.base_url`);
  const kind = settings.kind ?? guessKind(name, configured);
  const vendor = VENDOR_OF_KIND[kind];
  const url = withOllamaApi(kind, configured ?? defaultUrl(kind, env, setting));
  const provider = createProvider({
    name,
    protocol: protocolOf(kind, url),
    url,
    key: keyOf(name, settings, kind, url, env),
    source: setting,
    vendor,
    // The models of another server that uses a vendor's protocol are not known.
    ...(vendor === null || isVendorAccess(name, settings, vendor, url) ? {} : { tiers: {} }),
  });
  return settings.omit === undefined ? provider : { ...provider, omit: settings.omit };
}

function guessKind(name: string, configured: ParsedBaseUrl | null): ProviderKind {
  if (name === 'ollama') return 'ollama';
  if (isVendor(name)) return name;
  return configured === null ? 'openai-compatible' : kindOfServer(configured);
}

/** Returns the kind of the server at an address: its vendor, or else the protocol of its endpoint. */
function kindOfServer({ url, endpoint }: ParsedBaseUrl): ProviderKind {
  const vendor = findVendorByUrl(url);
  if (vendor !== null) return vendor;
  return endpoint === null || endpoint === 'openai-chat' ? 'openai-compatible' : endpoint;
}

function withOllamaApi(kind: ProviderKind, base: ParsedBaseUrl): ParsedBaseUrl {
  return kind === 'ollama' ? { url: toOllamaApiUrl(base.url), endpoint: 'openai-chat' } : base;
}

/** Returns the header of the key if it differs from that of the protocol. */
function keyHeaderOf({ url, protocol, key }: ProviderDraft): { readonly keyHeader?: KeyHeader } {
  // Azure's older API expects its keys in a header of its own.
  if (/\/openai\/deployments\//.test(url.url.pathname)) return { keyHeader: 'api-key' };
  // Anthropic's own tools send a token as a bearer token, and a key in the header `x-api-key`.
  const isToken = protocol === 'anthropic' && key.keyFrom?.endsWith('_AUTH_TOKEN') === true;
  return isToken && key.apiKey !== null ? { keyHeader: 'authorization' } : {};
}

/** The vendor whose keys and models are used for each kind of provider; null: those of no vendor. */
const VENDOR_OF_KIND: Readonly<Record<ProviderKind, Vendor | null>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-responses': 'openai',
  google: 'google',
  'openai-compatible': null,
  ollama: null,
};

function defaultUrl(kind: ProviderKind, env: Environment, setting: string): ParsedBaseUrl {
  const vendor = VENDOR_OF_KIND[kind];
  if (vendor !== null) return vendorUrl(vendor, env);
  if (kind === 'ollama') return ollamaBaseUrl(env.OLLAMA_HOST || `127.0.0.1:${OLLAMA_PORT}`);
  throw new UsageError(`${setting} needs base_url, such as http://127.0.0.1:8080/v1`);
}

function ollamaBaseUrl(host: string): ParsedBaseUrl {
  return { url: parseOllamaHost(host), endpoint: 'openai-chat' };
}

function vendorUrl(vendor: Vendor, env: Environment): ParsedBaseUrl {
  const { baseUrl, baseUrlKey } = VENDORS[vendor];
  return parseBaseUrl(env[baseUrlKey] || baseUrl, baseUrlKey);
}

/** Returns the protocol of a provider. OpenAI itself uses Responses; servers that imitate it use Chat. */
function protocolOf(kind: ProviderKind, { url, endpoint }: ParsedBaseUrl): ProtocolName {
  switch (kind) {
    case 'anthropic':
    case 'google':
    case 'openai-responses':
      return kind;
    case 'openai':
      if (findVendorByUrl(url) === 'openai') return 'openai-responses';
      return endpoint === 'openai-responses' ? endpoint : 'openai-chat';
    case 'openai-compatible':
    case 'ollama':
      return 'openai-chat';
  }
}

function keyOf(
  name: string,
  settings: ProviderSettings,
  kind: ProviderKind,
  base: ParsedBaseUrl,
  env: Environment,
): ProviderKey {
  const vendor = VENDOR_OF_KIND[kind];
  if (settings.apiKeyEnv !== undefined)
    return readProviderKey([settings.apiKeyEnv], env, { needed: settings.apiKeyEnv });
  // A vendor's key is never sent to another server that is configured with the vendor's protocol.
  if (vendor === null || !isVendorAccess(name, settings, vendor, base)) return { apiKey: null };
  const needed = isPrivateHost(base.url.href) ? null : (VENDORS[vendor].keys[0] ?? null);
  return readProviderKey(keyNames(vendor), env, { needed });
}

function keyNames(vendor: Vendor): readonly string[] {
  const { token, keys } = VENDORS[vendor];
  return token === undefined ? keys : [token, ...keys];
}

/** Returns true if a provider is the vendor itself, or a proxy that the user configured under the vendor's name. */
function isVendorAccess(
  name: string,
  settings: ProviderSettings,
  vendor: Vendor,
  { url }: ParsedBaseUrl,
): boolean {
  return settings.baseUrl === undefined || name === vendor || findVendorByUrl(url) === vendor;
}

/** Reads `LLM_*`, which names the main model, and `LIGHT_LLM_*`, which names the fast one. */
function fromLlmVariables(env: Environment): readonly ConfiguredProvider[] {
  return [
    ...llmProvider('llm', 'LLM', 'balanced', env),
    ...llmProvider('light_llm', 'LIGHT_LLM', 'fast', env),
  ];
}

/**
 * Returns one sentence for each of `LLM_*` and `LIGHT_LLM_*` whose variables have no effect because the id of
 * the model is not set. It contains names of variables and never a value, which may be a key.
 */
export function describeUnusedLlmVariables(env: Environment): readonly string[] {
  return ['LLM', 'LIGHT_LLM'].flatMap((prefix) => {
    if (env[`${prefix}_MODEL_ID`]?.trim()) return [];
    const set = [`${prefix}_API_KEY`, `${prefix}_BASE_URL`].filter((name) => env[name]?.trim());
    if (set.length === 0) return [];
    const verb = set.length === 1 ? 'has' : 'have';
    return [
      `${set.join(' and ')} ${verb} no effect: ${prefix}_MODEL_ID is not set. Set it to the id of the model.`,
    ];
  });
}

function llmProvider(
  name: string,
  prefix: string,
  tier: Tier,
  env: Environment,
): readonly ConfiguredProvider[] {
  const id = env[`${prefix}_MODEL_ID`]?.trim();
  if (!id) return [];
  const configured = env[`${prefix}_BASE_URL`]?.trim();
  const url = configured ? parseBaseUrl(configured, `${prefix}_BASE_URL`) : null;
  const kind = url === null ? (findVendorByModelId(id) ?? 'openai') : kindOfServer(url);
  const vendor = url === null ? findVendorByModelId(id) : findVendorByUrl(url.url);
  const at = url ?? { url: new URL(VENDORS[vendor ?? 'openai'].baseUrl), endpoint: null };
  const keyName = `${prefix}_API_KEY`;
  const needed = isPrivateHost(at.url.href) ? null : keyName;
  return [
    createProvider({
      name,
      protocol: protocolOf(kind, at),
      url: at,
      key: readProviderKey([keyName], env, { needed }),
      source: `${prefix}_MODEL_ID`,
      vendor,
      tiers: { [tier]: id },
      models: [id],
    }),
  ];
}

/** Finds the vendor by the form of a model id; null: no vendor has such ids. */
export function findVendorByModelId(id: string): Vendor | null {
  return VENDOR_NAMES.find((vendor) => VENDORS[vendor].ids.test(id)) ?? null;
}

/**
 * Returns the provider of a vendor if its variables hold a key, or a base URL on this machine or network, where
 * servers seldom need a key.
 */
function fromVendorVariables(vendor: Vendor, env: Environment): readonly ConfiguredProvider[] {
  const { baseUrlKey } = VENDORS[vendor];
  const key = readProviderKey(keyNames(vendor), env, { needed: null });
  const url = vendorUrl(vendor, env);
  const hasKey = key.keyFrom !== undefined;
  if (!hasKey && !isPrivateHost(url.url.href)) return [];
  const protocol = protocolOf(vendor, url);
  const source = key.keyFrom ?? baseUrlKey;
  // Without a key it is the user's own server, and its models are not the vendor's.
  const owner = hasKey ? vendor : null;
  return [createProvider({ name: vendor, protocol, url, key, source, vendor: owner })];
}

function fromOllamaHost(env: Environment): readonly ConfiguredProvider[] {
  if (!env.OLLAMA_HOST?.trim()) return [];
  const url = ollamaBaseUrl(env.OLLAMA_HOST);
  return [createKeylessProvider('ollama', url, 'OLLAMA_HOST')];
}

/** Creates a provider that needs no key, uses OpenAI's Chat Completions protocol, and may serve any models. */
export function createKeylessProvider(
  name: string,
  url: ParsedBaseUrl,
  source: string,
): ConfiguredProvider {
  const key = { apiKey: null };
  return createProvider({ name, protocol: 'openai-chat', url, key, source, vendor: null });
}
