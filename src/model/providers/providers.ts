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
} from '../model-settings.ts';

/** A provider that can be asked, or that only lacks its key. */
export interface ConfiguredProvider extends CandidateUrls, ProviderKey {
  readonly name: string;
  readonly protocol: ProtocolName;
  /** The setting it was found in, for people. */
  readonly source: string;
  /** Whose models it serves under their own names; null: anybody's. */
  readonly vendor: Vendor | null;
  /** A model for each tier, where one is known. */
  readonly tiers: Readonly<Partial<Record<Tier, string>>>;
  /** The ids it is known to serve, beside the vendor's; null: not known. */
  readonly models: readonly string[] | null;
  /** On this machine or network. */
  readonly isPrivate: boolean;
  /** Parts left out of its requests. Default: none, until the server refuses one. */
  readonly omit?: readonly AdjustmentName[];
}

/**
 * The providers that configuration and environment name, in the order of docs/configuration.md; names are
 * unique, the first wins. Throws UsageError for a setting that can't be meant.
 */
export function discoverProviders(
  settings: ModelSettings,
  env: Environment,
): readonly ConfiguredProvider[] {
  const found = [
    ...Object.entries(settings.providers).map(([name, own]) => fromSettings(name, own, env)),
    ...fromLlmVariables(env),
    ...vendorNames().flatMap((vendor) => fromVendorVariables(vendor, env)),
    ...fromOllamaHost(env),
  ];
  const byName = new Map<string, ConfiguredProvider>();
  for (const provider of found) {
    if (!byName.has(provider.name)) byName.set(provider.name, provider);
  }
  return [...byName.values()];
}

function vendorNames(): readonly Vendor[] {
  return ['anthropic', 'openai', 'google'];
}

export function isVendor(name: string): name is Vendor {
  return Object.hasOwn(VENDORS, name);
}

interface Draft {
  readonly name: string;
  readonly protocol: ProtocolName;
  readonly url: ParsedBaseUrl;
  readonly key: ProviderKey;
  readonly source: string;
  readonly vendor: Vendor | null;
  readonly tiers?: ConfiguredProvider['tiers'];
  readonly models?: readonly string[];
}

export function createProvider(draft: Draft): ConfiguredProvider {
  const urls = findCandidateUrls(draft.url, draft.protocol);
  return {
    name: draft.name,
    protocol: draft.protocol,
    ...urls,
    ...draft.key,
    ...keyHeaderOf(draft),
    source: draft.source,
    vendor: draft.vendor,
    tiers: draft.tiers ?? (draft.vendor === null ? {} : VENDORS[draft.vendor].tiers),
    models: draft.models ?? null,
    isPrivate: isPrivateHost(urls.baseUrl),
  };
}

function fromSettings(name: string, own: ProviderSettings, env: Environment): ConfiguredProvider {
  const where = `models.providers.${name}`;
  if (!/^[a-z0-9][a-z0-9_.-]*$/i.test(name) || name === 'offline') {
    throw new UsageError(`${where}: a provider's name is letters, digits, ".", "_" and "-"`);
  }
  const given = own.baseUrl === undefined ? null : parseBaseUrl(own.baseUrl, `${where}.base_url`);
  const kind = own.kind ?? guessKind(name, given);
  const vendor = kindVendor(kind);
  const url = withOllamaApi(kind, given ?? standardUrl(kind, env, where));
  const found = createProvider({
    name,
    protocol: protocolOf(kind, url),
    url,
    key: keyOf(name, own, kind, url, env),
    source: where,
    vendor,
    // What somebody else serves under a vendor's protocol is not known.
    ...(vendor === null || isVendorsOwn(name, own, vendor, url) ? {} : { tiers: {} }),
  });
  return own.omit === undefined ? found : { ...found, omit: own.omit };
}

function guessKind(name: string, given: ParsedBaseUrl | null): ProviderKind {
  if (name === 'ollama') return 'ollama';
  if (isVendor(name)) return name;
  return given === null ? 'openai-compatible' : kindAt(given);
}

/** Who answers at an address, or else what its endpoint, if one was given, speaks. */
function kindAt({ url, endpoint }: ParsedBaseUrl): ProviderKind {
  const vendor = findVendorByUrl(url);
  if (vendor !== null) return vendor;
  return endpoint === null || endpoint === 'openai-chat' ? 'openai-compatible' : endpoint;
}

function withOllamaApi(kind: ProviderKind, base: ParsedBaseUrl): ParsedBaseUrl {
  return kind === 'ollama' ? { url: toOllamaApiUrl(base.url), endpoint: 'openai-chat' } : base;
}

/** Returns the header of the key, where it is not the usual one of the protocol. */
function keyHeaderOf({ url, protocol, key }: Draft): { readonly keyHeader?: KeyHeader } {
  // Only Azure's newer API takes its keys as other servers do.
  if (/\/openai\/deployments\//.test(url.url.pathname)) return { keyHeader: 'api-key' };
  // Anthropic's own tools send a token as a bearer token and a key in a header of its own.
  const isToken = protocol === 'anthropic' && key.keyFrom?.endsWith('_AUTH_TOKEN') === true;
  return isToken && key.apiKey !== null ? { keyHeader: 'authorization' } : {};
}

function kindVendor(kind: ProviderKind): Vendor | null {
  switch (kind) {
    case 'anthropic':
    case 'openai':
    case 'google':
      return kind;
    case 'openai-responses':
      return 'openai';
    case 'openai-compatible':
    case 'ollama':
      return null;
  }
}

function standardUrl(kind: ProviderKind, env: Environment, where: string): ParsedBaseUrl {
  const vendor = kindVendor(kind);
  if (vendor !== null) return vendorUrl(vendor, env);
  if (kind === 'ollama') return ollamaBase(env.OLLAMA_HOST || `127.0.0.1:${OLLAMA_PORT}`);
  throw new UsageError(`${where} needs base_url, such as http://127.0.0.1:8080/v1`);
}

function ollamaBase(host: string): ParsedBaseUrl {
  return { url: parseOllamaHost(host), endpoint: 'openai-chat' };
}

function vendorUrl(vendor: Vendor, env: Environment): ParsedBaseUrl {
  const { baseUrl, baseUrlKey } = VENDORS[vendor];
  return parseBaseUrl(env[baseUrlKey] || baseUrl, baseUrlKey);
}

/** `openai` speaks Responses at OpenAI itself; what imitates it speaks Chat, the older protocol. */
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
  own: ProviderSettings,
  kind: ProviderKind,
  base: ParsedBaseUrl,
  env: Environment,
): ProviderKey {
  const vendor = kindVendor(kind);
  if (own.apiKeyEnv !== undefined)
    return readProviderKey([own.apiKeyEnv], env, { needed: own.apiKeyEnv });
  // A vendor's key is not given to whoever else is configured under the vendor's protocol.
  if (vendor === null || !isVendorsOwn(name, own, vendor, base)) return { apiKey: null };
  const needed = isPrivateHost(base.url.href) ? null : (VENDORS[vendor].keys[0] ?? null);
  return readProviderKey(keyNames(vendor), env, { needed });
}

function keyNames(vendor: Vendor): readonly string[] {
  const { token, keys } = VENDORS[vendor];
  return token === undefined ? keys : [token, ...keys];
}

/** The vendor itself, or the user's own way to it under the vendor's name. */
function isVendorsOwn(
  name: string,
  own: ProviderSettings,
  vendor: Vendor,
  { url }: ParsedBaseUrl,
): boolean {
  return own.baseUrl === undefined || name === vendor || findVendorByUrl(url) === vendor;
}

/** S2's variables: `LLM_*` is the main model, `LIGHT_LLM_*` the fast one; each may be elsewhere. */
function fromLlmVariables(env: Environment): readonly ConfiguredProvider[] {
  return [
    ...llmProvider('llm', 'LLM', 'balanced', env),
    ...llmProvider('light_llm', 'LIGHT_LLM', 'fast', env),
  ];
}

/**
 * Names the variables of `LLM_*` and `LIGHT_LLM_*` that have no effect, since the variable with the id of the model is not
 * set: one sentence for each of the two. Never a value: one may be a key.
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
  const given = env[`${prefix}_BASE_URL`]?.trim();
  const url = given ? parseBaseUrl(given, `${prefix}_BASE_URL`) : null;
  const kind = url === null ? (findVendorByModelId(id) ?? 'openai') : kindAt(url);
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

export function findVendorByModelId(id: string): Vendor | null {
  return vendorNames().find((vendor) => VENDORS[vendor].ids.test(id)) ?? null;
}

/** A key, or a base URL on this machine or network, where a server seldom wants a key. */
function fromVendorVariables(vendor: Vendor, env: Environment): readonly ConfiguredProvider[] {
  const { baseUrlKey } = VENDORS[vendor];
  const key = readProviderKey(keyNames(vendor), env, { needed: null });
  const url = vendorUrl(vendor, env);
  const hasKey = key.keyFrom !== undefined;
  if (!hasKey && !isPrivateHost(url.url.href)) return [];
  const protocol = protocolOf(vendor, url);
  // Without a key it is a server of the user's own, and its models are not the vendor's.
  if (!hasKey) {
    return [createProvider({ name: vendor, protocol, url, key, source: baseUrlKey, vendor: null })];
  }
  return [
    createProvider({ name: vendor, protocol, url, key, source: key.keyFrom ?? vendor, vendor }),
  ];
}

function fromOllamaHost(env: Environment): readonly ConfiguredProvider[] {
  if (!env.OLLAMA_HOST?.trim()) return [];
  const url = ollamaBase(env.OLLAMA_HOST);
  return [
    createProvider({
      name: 'ollama',
      protocol: 'openai-chat',
      url,
      key: { apiKey: null },
      source: 'OLLAMA_HOST',
      vendor: null,
    }),
  ];
}
