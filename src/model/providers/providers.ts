import { UsageError } from '../../base/errors.ts';
import type { StoredAccount } from '../../protocol/api-key.ts';
import type { Tier } from '../../protocol/model.ts';
import type { Environment } from '../../sys/env.ts';
import { isCloudKind } from '../settings/clouds.ts';
import type {
  ModelSettings,
  ProviderKind,
  ProviderSettings,
  ServerKind,
} from '../settings/model-settings.ts';
import {
  findPresetByHost,
  isPreset,
  PRESET_NAMES,
  PRESETS,
  type PresetName,
} from '../settings/presets.ts';
import {
  describeWrongServer,
  isForOwnHosts,
  isForServer,
  parseAccountUrl,
} from './account-server.ts';
import { type ParsedBaseUrl, toOllamaApiUrl, parseOllamaHost, parseBaseUrl } from './base-url.ts';
import {
  createCloudProvider,
  listChosenClouds,
  listNamedClouds,
  refuseCloudSettings,
} from './cloud-provider.ts';
import {
  createProvider,
  kindOfServer,
  chooseProtocol,
  type ConfiguredProvider,
} from './configured-provider.ts';
import {
  accountKey,
  configuredKey,
  findAccount,
  type ProviderKey,
  readProviderKey,
} from './provider-key.ts';
import {
  OLLAMA_PORT,
  type Vendor,
  VENDOR_NAMES,
  isPrivateHost,
  findVendorByUrl,
  isVendor,
} from './vendors.ts';

/**
 * Finds the providers in the configuration, in the environment, and among the accounts that are signed in, in the
 * order that docs/configuration.md states. Names are unique: the first provider of a name is used. Throws UsageError
 * for an invalid setting.
 */
export function discoverProviders(
  settings: ModelSettings,
  env: Environment,
  accounts: readonly StoredAccount[] = [],
): readonly ConfiguredProvider[] {
  const sources = { env, accounts };
  const found = [
    ...Object.entries(settings.providers).map(([name, own]) => fromSettings(name, own, sources)),
    ...fromLlmVariables(env),
    ...listChosenClouds(sources),
    ...accounts.flatMap(({ provider }) => fromAccount(provider, sources)),
    ...PRESET_NAMES.flatMap((preset) => fromVariables(preset, env)),
    ...listNamedClouds(sources),
  ];
  const byName = new Map<string, ConfiguredProvider>();
  for (const provider of found) {
    if (!byName.has(provider.name)) byName.set(provider.name, provider);
  }
  return [...byName.values()];
}

/** The sources of keys and addresses outside of the configuration. */
interface KeySources {
  readonly env: Environment;
  readonly accounts: readonly StoredAccount[];
}

function fromSettings(
  name: string,
  settings: ProviderSettings,
  sources: KeySources,
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
  if (isCloudKind(kind)) return createCloudProvider({ name, kind }, settings, sources);
  refuseCloudSettings(setting, settings);
  const known = presetOfKind(kind, configured);
  const url = withOllamaApi(kind, configured ?? defaultUrl(known, sources.env, setting));
  // The keys and models of a known provider are not those of another server that uses its protocol.
  const server = { name, url, isDefault: configured === null };
  const preset = known !== null && isAccessTo(known, server, sources.env) ? known : null;
  const provider = createProvider({
    name,
    protocol: chooseProtocol(kind, url),
    url,
    key: keyOf(name, settings, { preset, url, sources }),
    source: setting,
    preset,
    kind,
    vendor: findVendorOfKind(kind, { preset, url }),
  });
  if (settings.omit === undefined) return provider;
  return { ...provider, omit: [...(provider.omit ?? []), ...settings.omit] };
}

/** Returns the vendor whose models a server has. It may be a server of the user's own with the vendor's protocol. */
function findVendorOfKind(
  kind: ServerKind,
  { preset, url }: { readonly preset: PresetName | null; readonly url: ParsedBaseUrl },
): Vendor | null {
  const isKnown = preset !== null || findPresetByHost(url.url.hostname) !== null;
  const vendor = isKnown ? preset : kind === 'openai-responses' ? 'openai' : kind;
  return isVendor(vendor) ? vendor : null;
}

function guessKind(name: string, configured: ParsedBaseUrl | null): ProviderKind {
  if (isPreset(name)) return name;
  if (configured !== null) return kindOfServer(configured);
  // With an address, a server of this name may be a gateway with another protocol.
  return isCloudKind(name) ? name : 'openai-compatible';
}

/** Returns the known provider of a kind, or that of the host if the kind is only a protocol; null: it is not known. */
function presetOfKind(kind: ServerKind, configured: ParsedBaseUrl | null): PresetName | null {
  if (kind === 'openai-responses') return 'openai';
  // A vendor's protocol at the host of another known provider, such as https://api.z.ai/api/anthropic.
  const host = configured === null ? null : findPresetByHost(configured.url.hostname);
  if (kind === 'openai-compatible') return host === 'google' ? null : host;
  return host ?? kind;
}

/**
 * Returns true if a provider is the known provider itself, or a proxy that the user has configured under its name. Its
 * key is never sent to another server that is configured with its protocol.
 */
function isAccessTo(
  preset: PresetName,
  server: { readonly name: string; readonly url: ParsedBaseUrl; readonly isDefault: boolean },
  env: Environment,
): boolean {
  const { hosts, isLocal } = PRESETS[preset];
  if (isOwnHost(preset, server.url.url)) return true;
  // Ollama's key is for its cloud, and not for servers that people run themselves.
  if (isLocal === true && hosts !== undefined) return false;
  if (server.isDefault || server.name === preset) return true;
  return isLocal === true && isSameServer(server.url.url, presetUrl(preset, env).url);
}

/** Returns true if a URL leads to the servers of the known provider itself. */
export function isOwnHost(preset: PresetName, { hostname }: URL): boolean {
  return PRESETS[preset].hosts?.test(hostname) === true;
}

/** Returns true if two URLs lead to the same server. `localhost` is another name of 127.0.0.1. */
export function isSameServer(one: URL, other: URL): boolean {
  const originOf = ({ origin }: URL): string => origin.replace('//localhost', '//127.0.0.1');
  return originOf(one) === originOf(other);
}

function withOllamaApi(kind: ServerKind, base: ParsedBaseUrl): ParsedBaseUrl {
  return kind === 'ollama' ? { url: toOllamaApiUrl(base.url), endpoint: 'openai-chat' } : base;
}

function defaultUrl(preset: PresetName | null, env: Environment, setting: string): ParsedBaseUrl {
  if (preset !== null) return presetUrl(preset, env);
  throw new UsageError(`${setting} needs base_url, such as http://127.0.0.1:8080/v1`);
}

/** Returns the address of a known provider, or the one that its environment variable holds. */
export function presetUrl(preset: PresetName, env: Environment): ParsedBaseUrl {
  const { baseUrl, baseUrlKey } = PRESETS[preset];
  const chosen = baseUrlKey === undefined ? undefined : env[baseUrlKey];
  if (preset === 'ollama') return ollamaBaseUrl(chosen || `127.0.0.1:${OLLAMA_PORT}`);
  return parseBaseUrl(chosen || baseUrl, baseUrlKey ?? preset);
}

function ollamaBaseUrl(host: string): ParsedBaseUrl {
  return { url: parseOllamaHost(host), endpoint: 'openai-chat' };
}

interface KeyTarget {
  readonly preset: PresetName | null;
  readonly url: ParsedBaseUrl;
  readonly sources: KeySources;
}

function keyOf(name: string, settings: ProviderSettings, target: KeyTarget): ProviderKey {
  const { preset, url, sources } = target;
  const own = configuredKey(`models.providers.${name}`, settings, sources.env);
  if (own !== null) return own;
  const all = sources.accounts.filter(({ provider }) => provider === name || provider === preset);
  const usable = all.filter((account) => isForServer(account, target));
  if (settings.account !== undefined) {
    const other = all.find(({ account }) => account === settings.account);
    if (other === undefined || usable.includes(other)) {
      return accountKey(name, settings.account, usable);
    }
    return { apiKey: null, keyProblem: describeWrongServer(other, url) };
  }
  if (preset !== null) {
    const key = readVariableKey(preset, sources.env);
    if (key.keyFrom !== undefined) return key;
  }
  if (usable.length > 0) return accountKey(name, null, usable);
  const ofName = all.filter(({ provider }) => provider === name);
  const other = findAccount(
    null,
    ofName.filter((account) => !isForOwnHosts(account)),
  );
  if (other !== undefined) return { apiKey: null, keyProblem: describeWrongServer(other, url) };
  const needed = preset === null || isKeyless(preset, url) ? undefined : PRESETS[preset].keys[0];
  return { apiKey: null, ...(needed !== undefined && { missingKey: needed }) };
}

function isKeyless(preset: PresetName, { url }: ParsedBaseUrl): boolean {
  return PRESETS[preset].isLocal === true || isPrivateHost(url.href);
}

/** Returns the key of a known provider in the environment. */
export function readVariableKey(preset: PresetName, env: Environment): ProviderKey {
  const { token, keys } = PRESETS[preset];
  return readProviderKey(token === undefined ? keys : [token, ...keys], env, {
    requiredVariable: null,
  });
}

/** Reads `LLM_*`, which names the main model, and `LIGHT_LLM_*`, which names the fast one. */
function fromLlmVariables(env: Environment): readonly ConfiguredProvider[] {
  return [
    ...llmProvider('llm', 'LLM', 'balanced', env),
    ...llmProvider('light_llm', 'LIGHT_LLM', 'fast', env),
  ];
}

/**
 * Returns one sentence for each setting in the environment that has no effect: `LLM_*` and `LIGHT_LLM_*` without the
 * id of a model. It contains names of variables and never a value, which may be a key.
 */
export function describeUnusedVariables(env: Environment): readonly string[] {
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
  const at = url ?? { url: new URL(PRESETS[vendor ?? 'openai'].baseUrl), endpoint: null };
  const keyName = `${prefix}_API_KEY`;
  const needed = isPrivateHost(at.url.href) ? null : keyName;
  return [
    createProvider({
      name,
      protocol: chooseProtocol(kind, at),
      url: at,
      key: readProviderKey([keyName], env, { requiredVariable: needed }),
      source: `${prefix}_MODEL_ID`,
      preset: vendor,
      tiers: { [tier]: id },
      models: [id],
    }),
  ];
}

/** Finds the vendor by the form of a model id; null: no vendor has such ids. */
export function findVendorByModelId(id: string): Vendor | null {
  return VENDOR_NAMES.find((vendor) => PRESETS[vendor].ids?.test(id) === true) ?? null;
}

/**
 * Returns a known provider if its variables hold a key, or a base URL on this machine or network, where servers
 * seldom need a key.
 */
function fromVariables(preset: PresetName, env: Environment): readonly ConfiguredProvider[] {
  const { baseUrlKey, isLocal } = PRESETS[preset];
  const isAddressSet = baseUrlKey !== undefined && Boolean(env[baseUrlKey]?.trim());
  // A key for a server that people run themselves does not say where the server is.
  if (isLocal === true && !isAddressSet) return [];
  const url = presetUrl(preset, env);
  const key = isAccessTo(preset, { name: preset, url, isDefault: true }, env)
    ? readVariableKey(preset, env)
    : { apiKey: null };
  const hasKey = key.keyFrom !== undefined;
  if (!hasKey && isLocal !== true && !isPrivateHost(url.url.href)) return [];
  const source = (isLocal === true ? baseUrlKey : key.keyFrom) ?? baseUrlKey ?? preset;
  // Without a key it is the user's own server, and its models are not the provider's.
  const owner = hasKey ? preset : null;
  const protocol = chooseProtocol(preset, url);
  const draft = { name: preset, protocol, url, key, source };
  return [createProvider({ ...draft, preset: owner, kind: preset })];
}

/** Returns the provider of an account that is signed in; none if its settings have been removed since. */
function fromAccount(name: string, sources: KeySources): readonly ConfiguredProvider[] {
  const stored = sources.accounts.filter(({ provider }) => provider === name);
  const account = findAccount(null, stored);
  const hasVariable = isPreset(name) && readVariableKey(name, sources.env).keyFrom !== undefined;
  if (account?.baseUrl !== undefined && !hasVariable) {
    const { baseUrl } = account;
    // A damaged address is reported as that of the account.
    parseAccountUrl(baseUrl, account);
    const settings = { baseUrl, account: account.account };
    return [{ ...fromSettings(name, settings, sources), source: 'muster login' }];
  }
  if (!isPreset(name)) return [];
  const provider = fromSettings(name, {}, sources);
  return [{ ...provider, source: provider.keyFrom ?? 'muster login' }];
}
