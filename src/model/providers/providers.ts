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

/** A configured provider. Its API key may be missing or unusable. */
export interface ConfiguredProvider extends CandidateUrls, ProviderKey {
  readonly name: string;
  readonly protocol: ProtocolName;
  /** The configuration key or environment variable that configures the provider, for messages. */
  readonly source: string;
  /** The vendor whose models the provider serves under the ids of the vendor; null: it may serve any models. */
  readonly vendor: Vendor | null;
  /** The id of the model for each tier. A tier is absent if its model is not known. */
  readonly tiers: Readonly<Partial<Record<Tier, string>>>;
  /** The ids of further models that the provider serves, in addition to those of `vendor`; null: they are not known. */
  readonly models: readonly string[] | null;
  /** True for a server on this machine or network. */
  readonly isPrivate: boolean;
  /** The parts of a request that are never sent. Default: every part is sent until the server refuses it. */
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
    ...Object.entries(settings.providers).map(([name, provider]) =>
      createProviderFromSettings(name, provider, env),
    ),
    ...readLlmProviders(env),
    ...VENDOR_NAMES.flatMap((vendor) => readVendorProvider(vendor, env)),
    ...readOllamaProvider(env),
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

/** A provider without the fields that `createProvider` derives from these. */
interface ProviderDraft
  extends
    Pick<ConfiguredProvider, 'name' | 'protocol' | 'source' | 'vendor'>,
    Partial<Pick<ConfiguredProvider, 'tiers' | 'models'>> {
  readonly parsedUrl: ParsedBaseUrl;
  readonly providerKey: ProviderKey;
}

/** Completes a draft: finds the URLs of the API, and uses the tiers of the vendor if the draft has none. */
function createProvider(draft: ProviderDraft): ConfiguredProvider {
  const { parsedUrl, providerKey, ...fields } = draft;
  const urls = findCandidateUrls(parsedUrl, draft.protocol);
  return {
    tiers: draft.vendor === null ? {} : VENDORS[draft.vendor].tiers,
    models: null,
    ...fields,
    ...urls,
    ...providerKey,
    ...chooseKeyHeader(draft),
    isPrivate: isPrivateHost(urls.baseUrl),
  };
}

function createProviderFromSettings(
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
      `${setting}: the name of a provider must begin with a letter or digit and contain only letters, digits, ".", "_" and "-"`,
    );
  }
  const configured =
    settings.baseUrl === undefined ? null : parseBaseUrl(settings.baseUrl, `${setting}.base_url`);
  const kind = settings.kind ?? guessKind(name, configured);
  const vendor = VENDOR_OF_KIND[kind];
  const parsedUrl = withOllamaApi(kind, configured ?? findDefaultUrl(kind, env, setting));
  const provider = createProvider({
    name,
    protocol: chooseProtocol(kind, parsedUrl),
    parsedUrl,
    providerKey: readConfiguredKey(name, settings, kind, parsedUrl, env),
    source: setting,
    vendor,
    // The models of another server that uses a vendor's protocol are not known.
    ...(vendor === null || isVendorAccess(name, settings, vendor, parsedUrl) ? {} : { tiers: {} }),
  });
  return settings.omit === undefined ? provider : { ...provider, omit: settings.omit };
}

function guessKind(name: string, configured: ParsedBaseUrl | null): ProviderKind {
  if (name === 'ollama') return 'ollama';
  if (isVendor(name)) return name;
  return configured === null ? 'openai-compatible' : findServerKind(configured);
}

/** Returns the kind of provider at a URL: the vendor of the server, or else the protocol of the endpoint. */
function findServerKind({ url, endpoint }: ParsedBaseUrl): ProviderKind {
  const vendor = findVendorByUrl(url);
  if (vendor !== null) return vendor;
  return endpoint === null || endpoint === 'openai-chat' ? 'openai-compatible' : endpoint;
}

/** Changes the URL of an Ollama server to that of its OpenAI-compatible API. Other URLs remain unchanged. */
function withOllamaApi(kind: ProviderKind, parsedUrl: ParsedBaseUrl): ParsedBaseUrl {
  return kind === 'ollama'
    ? { url: toOllamaApiUrl(parsedUrl.url), endpoint: 'openai-chat' }
    : parsedUrl;
}

/** Returns the header for the API key if it is not the default header of the protocol, or else no field. */
function chooseKeyHeader({ parsedUrl, protocol, providerKey }: ProviderDraft): {
  readonly keyHeader?: KeyHeader;
} {
  // Azure's older API expects the API key in the header `api-key`.
  if (/\/openai\/deployments\//.test(parsedUrl.url.pathname)) return { keyHeader: 'api-key' };
  // Like Claude Code: a token is sent as a bearer token, and an API key in the header `x-api-key`.
  const isToken = protocol === 'anthropic' && providerKey.keyFrom?.endsWith('_AUTH_TOKEN') === true;
  return isToken && providerKey.apiKey !== null ? { keyHeader: 'authorization' } : {};
}

/** The vendor whose API keys and models each kind of provider uses; null: it uses those of no vendor. */
const VENDOR_OF_KIND: Readonly<Record<ProviderKind, Vendor | null>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-responses': 'openai',
  google: 'google',
  'openai-compatible': null,
  ollama: null,
};

/** Returns the base URL of a provider whose settings have none. `setting`: the provider, for the UsageError. */
function findDefaultUrl(kind: ProviderKind, env: Environment, setting: string): ParsedBaseUrl {
  const vendor = VENDOR_OF_KIND[kind];
  if (vendor !== null) return readVendorUrl(vendor, env);
  if (kind === 'ollama') return toOllamaBaseUrl(env.OLLAMA_HOST || `127.0.0.1:${OLLAMA_PORT}`);
  throw new UsageError(`${setting} needs base_url, such as http://127.0.0.1:8080/v1`);
}

function toOllamaBaseUrl(host: string): ParsedBaseUrl {
  return { url: parseOllamaHost(host), endpoint: 'openai-chat' };
}

function readVendorUrl(vendor: Vendor, env: Environment): ParsedBaseUrl {
  const { baseUrl, baseUrlVariable } = VENDORS[vendor];
  return parseBaseUrl(env[baseUrlVariable] || baseUrl, baseUrlVariable);
}

/** Returns the protocol of a provider: Responses for the server of OpenAI, and Chat for servers that imitate OpenAI. */
function chooseProtocol(kind: ProviderKind, { url, endpoint }: ParsedBaseUrl): ProtocolName {
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

/** Reads the API key of a provider in the configuration. */
function readConfiguredKey(
  name: string,
  settings: ProviderSettings,
  kind: ProviderKind,
  parsedUrl: ParsedBaseUrl,
  env: Environment,
): ProviderKey {
  const vendor = VENDOR_OF_KIND[kind];
  if (settings.apiKeyEnv !== undefined)
    return readProviderKey([settings.apiKeyEnv], env, { requiredVariable: settings.apiKeyEnv });
  // The API key of a vendor is never sent to another server that only uses the protocol of the vendor.
  if (vendor === null || !isVendorAccess(name, settings, vendor, parsedUrl))
    return { apiKey: null };
  const isPrivate = isPrivateHost(parsedUrl.url.href);
  const requiredVariable = isPrivate ? null : (VENDORS[vendor].keyVariables[0] ?? null);
  return readProviderKey(listKeyVariables(vendor), env, { requiredVariable });
}

/** Lists the environment variables for the API key of a vendor, by priority. */
function listKeyVariables(vendor: Vendor): readonly string[] {
  const { tokenVariable, keyVariables } = VENDORS[vendor];
  return tokenVariable === undefined ? keyVariables : [tokenVariable, ...keyVariables];
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

/** Reads the provider of the main model from `LLM_*`, and the provider of the fast model from `LIGHT_LLM_*`. */
function readLlmProviders(env: Environment): readonly ConfiguredProvider[] {
  return [
    ...readLlmProvider('llm', 'LLM', 'balanced', env),
    ...readLlmProvider('light_llm', 'LIGHT_LLM', 'fast', env),
  ];
}

/**
 * Returns one sentence for each of the groups `LLM_*` and `LIGHT_LLM_*` that has no effect because the id of the
 * model is not set. A sentence contains the names of variables and never their values, which may be API keys.
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

function readLlmProvider(
  name: string,
  prefix: string,
  tier: Tier,
  env: Environment,
): readonly ConfiguredProvider[] {
  const id = env[`${prefix}_MODEL_ID`]?.trim();
  if (!id) return [];
  const configured = env[`${prefix}_BASE_URL`]?.trim();
  const stated = configured ? parseBaseUrl(configured, `${prefix}_BASE_URL`) : null;
  const kind = stated === null ? (findVendorByModelId(id) ?? 'openai') : findServerKind(stated);
  const vendor = stated === null ? findVendorByModelId(id) : findVendorByUrl(stated.url);
  const parsedUrl = stated ?? { url: new URL(VENDORS[vendor ?? 'openai'].baseUrl), endpoint: null };
  const keyVariable = `${prefix}_API_KEY`;
  const requiredVariable = isPrivateHost(parsedUrl.url.href) ? null : keyVariable;
  return [
    createProvider({
      name,
      protocol: chooseProtocol(kind, parsedUrl),
      parsedUrl,
      providerKey: readProviderKey([keyVariable], env, { requiredVariable }),
      source: `${prefix}_MODEL_ID`,
      vendor,
      tiers: { [tier]: id },
      models: [id],
    }),
  ];
}

/** Finds the vendor by the form of a model id; null: no known vendor has ids of this form. */
export function findVendorByModelId(id: string): Vendor | null {
  return VENDOR_NAMES.find((vendor) => VENDORS[vendor].idPattern.test(id)) ?? null;
}

/**
 * Returns the provider of a vendor if its variables contain an API key, or a base URL on this machine or network,
 * because servers there seldom need an API key.
 */
function readVendorProvider(vendor: Vendor, env: Environment): readonly ConfiguredProvider[] {
  const providerKey = readProviderKey(listKeyVariables(vendor), env, { requiredVariable: null });
  const parsedUrl = readVendorUrl(vendor, env);
  const hasKey = providerKey.keyFrom !== undefined;
  if (!hasKey && !isPrivateHost(parsedUrl.url.href)) return [];
  const protocol = chooseProtocol(vendor, parsedUrl);
  const source = providerKey.keyFrom ?? VENDORS[vendor].baseUrlVariable;
  const draft = { name: vendor, protocol, parsedUrl, providerKey, source };
  // Without an API key, this is a server of the user, which does not serve the models of the vendor.
  return [createProvider({ ...draft, vendor: hasKey ? vendor : null })];
}

function readOllamaProvider(env: Environment): readonly ConfiguredProvider[] {
  if (!env.OLLAMA_HOST?.trim()) return [];
  return [createKeylessProvider('ollama', toOllamaBaseUrl(env.OLLAMA_HOST), 'OLLAMA_HOST')];
}

/** Creates a provider that needs no API key, uses OpenAI's Chat Completions protocol, and may serve any models. */
export function createKeylessProvider(
  name: string,
  parsedUrl: ParsedBaseUrl,
  source: string,
): ConfiguredProvider {
  const fields = { name, protocol: 'openai-chat', parsedUrl, source, vendor: null } as const;
  return createProvider({ ...fields, providerKey: { apiKey: null } });
}
