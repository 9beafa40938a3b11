import { UsageError } from '../../base/errors.ts';
import { sortByNearness } from '../../base/name-suggestions.ts';
import { quoteValue } from '../../config/message-text.ts';
import type { ProbeTarget } from '../../model/probe/probe-provider.ts';
import {
  parseBaseUrl,
  refuseSecretQuery,
  type ParsedBaseUrl,
} from '../../model/providers/base-url.ts';
import {
  kindOfServer,
  type ConfiguredProvider,
} from '../../model/providers/configured-provider.ts';
import { describeAccount } from '../../model/providers/provider-key.ts';
import {
  discoverProviders,
  isOwnHost,
  isSameServer,
  presetUrl,
} from '../../model/providers/providers.ts';
import { isPrivateHost, OLLAMA_PORT } from '../../model/providers/vendors.ts';
import { isPreset, PRESET_NAMES, type PresetName } from '../../model/settings/presets.ts';
import type {
  ModelSettings,
  ProviderKind,
  ProviderSettings,
} from '../../model/settings/model-settings.ts';
import type { StoredAccount } from '../../protocol/api-key.ts';
import type { Environment } from '../../sys/env.ts';

/** The provider that the user wants to probe. */
export interface ProbeWish {
  /** The name of a configured or known provider, or the base URL of a server. */
  readonly provider: string;
  /** The id of a model, with or without the provider before it; null: one is chosen. */
  readonly model: string | null;
  /** The variable that holds the key; null: as configured. */
  readonly apiKeyEnv: string | null;
}

export interface ProbeSources {
  readonly settings: ModelSettings;
  readonly environment: Environment;
  readonly accounts: readonly StoredAccount[];
}

/** The provider to probe, with the settings that it has now. */
export interface FoundTarget {
  readonly target: ProbeTarget;
  /** The name for the configuration. */
  readonly name: string;
  /** The settings in the configuration file; null: it is not configured there. */
  readonly configured: ProviderSettings | null;
  /** True if the user gave a base URL for which no provider is configured. */
  readonly isNew: boolean;
  /** The variable that the user names for the key; undefined: the key is as configured. */
  readonly keyVariable: string | undefined;
}

/** Finds the provider to probe. Throws UsageError for an unknown name, and for a URL that cannot be used. */
export function findProbeTarget(wish: ProbeWish, sources: ProbeSources): FoundTarget {
  const text = wish.provider.trim();
  const name = text.toLowerCase();
  const { settings } = sources;
  const known = [...Object.keys(settings.providers), ...PRESET_NAMES].find(
    (one) => one.toLowerCase() === name,
  );
  const found = discoverProviders(settings, sources.environment, sources.accounts);
  if (known !== undefined || found.some((one) => one.name === name)) {
    return findNamed(known ?? name, wish, sources);
  }
  if (!/[.:/]/.test(text)) throw unknownProvider(text, found);
  return findByUrl(text, wish, sources);
}

function unknownProvider(text: string, found: readonly ConfiguredProvider[]): UsageError {
  const names = [...new Set([...found.map(({ name }) => name), ...PRESET_NAMES])];
  const valid = sortByNearness(text, names).join(', ');
  return new UsageError(
    `--provider ${quoteValue(text)} is neither a provider nor a URL such as http://localhost:8080/v1; providers, nearest first: ${valid}`,
  );
}

function findNamed(name: string, wish: ProbeWish, sources: ProbeSources): FoundTarget {
  const { settings, environment, accounts } = sources;
  const configured = settings.providers[name] ?? null;
  const changed =
    wish.apiKeyEnv === null ? configured : withKeyVariable(configured ?? {}, wish.apiKeyEnv);
  const discover = (own: ProviderSettings | null): ConfiguredProvider | undefined =>
    discoverProviders(
      { ...settings, providers: { ...settings.providers, ...(own !== null && { [name]: own }) } },
      environment,
      accounts,
    ).find((one) => one.name === name);
  // A known provider without a key is not discovered.
  const provider = discover(changed) ?? discover({});
  if (provider === undefined) throw unknownProvider(name, []);
  return {
    target: { candidates: [provider], model: modelId(wish.model, name) },
    name,
    configured,
    isNew: false,
    keyVariable: wish.apiKeyEnv ?? undefined,
  };
}

function withKeyVariable(settings: ProviderSettings, apiKeyEnv: string): ProviderSettings {
  const {
    apiKeyCommand: _c,
    apiKeyFile: _f,
    apiKeyTtlSeconds: _t,
    account: _a,
    ...rest
  } = settings;
  return { ...rest, apiKeyEnv };
}

/** The protocols of servers that are not known, the most frequent first. */
const KINDS: readonly ProviderKind[] = ['openai-compatible', 'openai-responses', 'anthropic'];

function findByUrl(text: string, wish: ProbeWish, sources: ProbeSources): FoundTarget {
  const url = parseBaseUrl(text, '--provider');
  refuseSecretQuery(url, '--provider', 'put it into a variable and name that with --api-key-env');
  const configured = findConfigured(url, sources);
  if (configured !== null) return findNamed(configured, wish, sources);
  const known = findKnownServer(url, sources.environment);
  const usual = known ?? localPreset(url.url);
  const name = chooseName(url.url, { known, usual }, sources);
  const own = wish.apiKeyEnv === null ? {} : { apiKeyEnv: wish.apiKeyEnv };
  const settingsOf = (one: ProviderKind): ProviderSettings => ({
    baseUrl: text,
    ...(isPreset(name) ? {} : { kind: one }),
    ...own,
  });
  const kind = kindOfServer(url);
  const kinds = usual === null ? [...new Set([kind, ...KINDS])] : [usual];
  // A name that is only guessed must not decide which key is sent.
  const accounts = known === null ? [] : sources.accounts;
  const [first, ...others] = kinds.flatMap((one) =>
    discoverProviders(
      { providers: { [name]: settingsOf(one) } },
      sources.environment,
      accounts,
    ).filter((provider) => provider.name === name),
  );
  if (first === undefined) throw new UsageError(`--provider ${quoteValue(text)} cannot be used`);
  return {
    target: { candidates: [first, ...others], model: modelId(wish.model, name) },
    name,
    configured: null,
    isNew: true,
    keyVariable: wish.apiKeyEnv ?? undefined,
  };
}

/** Returns the name of the provider that is configured or signed in with this base URL; null: none is. */
function findConfigured(
  { url }: ParsedBaseUrl,
  { settings, accounts }: ProbeSources,
): string | null {
  const isSame = (baseUrl: string, setting: string): boolean =>
    parseBaseUrl(baseUrl, setting).url.href === url.href;
  const found = Object.entries(settings.providers).find(
    ([name, { baseUrl }]) =>
      baseUrl !== undefined && isSame(baseUrl, `models.providers.${name}.base_url`),
  );
  if (found !== undefined) return found[0];
  const account = accounts.find(
    (each) => each.baseUrl !== undefined && isSame(each.baseUrl, describeAccount(each)),
  );
  return account?.provider ?? null;
}

/** Returns the known provider to which a URL belongs for certain, by its host or its usual address; null: none. */
function findKnownServer(base: ParsedBaseUrl, environment: Environment): PresetName | null {
  const kind = kindOfServer(base);
  if (isPreset(kind) && isOwnHost(kind, base.url)) return kind;
  const local = LOCAL_PRESETS.find((name) =>
    isSameServer(base.url, presetUrl(name, environment).url),
  );
  return local ?? null;
}

function modelId(model: string | null, provider: string): string | null {
  const prefix = `${provider}/`;
  return model?.toLowerCase().startsWith(prefix.toLowerCase()) === true
    ? model.slice(prefix.length)
    : model;
}

/** The parts of host names that do not tell servers apart. */
const COMMON_LABELS = new Set(['api', 'www', 'llm', 'ai', 'inference', 'gateway', 'v1']);
const MAX_NAME_LENGTH = 40;

/** Chooses the name under which a server is configured. `usual`: the known provider that it seems to be. */
function chooseName(
  url: URL,
  { known, usual }: { readonly known: PresetName | null; readonly usual: PresetName | null },
  { settings, accounts }: ProbeSources,
): string {
  const base = usual ?? nameOfHost(url);
  // The account of a known provider is for this server, too.
  const isFree = (name: string): boolean =>
    settings.providers[name] === undefined &&
    (name === known || !accounts.some(({ provider }) => provider === name));
  if (isFree(base)) return base;
  const withPort = `${base.replaceAll('.', '-')}-${url.port === '' ? 2 : url.port}`;
  for (let name = withPort, count = 2; ; name = `${withPort}-${count}`, count += 1) {
    if (isFree(name)) return name;
  }
}

/** The known local servers that are recognized by their usual address. */
const LOCAL_PRESETS = ['ollama', 'lmstudio'] as const;

/**
 * Returns the known local server that uses the port of a URL on another host; null: none is sure to. Ollama's key is
 * only for its cloud, so the name sends no key anywhere.
 */
function localPreset({ port }: URL): 'ollama' | null {
  return port === OLLAMA_PORT ? 'ollama' : null;
}

function nameOfHost(url: URL): string {
  const { hostname } = url;
  if (/^\[|^\d+(\.\d+){3}$|^localhost$/.test(hostname)) {
    return isPrivateHost(url.href) ? 'local' : 'server';
  }
  const labels = hostname.toLowerCase().split('.');
  const owner = labels.length > 1 ? labels.slice(0, -1) : labels;
  const label =
    owner.findLast((one) => !COMMON_LABELS.has(one) && one.length > 2) ?? owner[0] ?? '';
  const name = label.replaceAll(/[^a-z\d_-]/g, '').slice(0, MAX_NAME_LENGTH);
  const isUsable = /^[a-z\d]/.test(name) && name !== 'offline' && !isPreset(name);
  return isUsable ? name : 'server';
}
