import { UsageError } from '../../base/errors.ts';
import { sortByNearness } from '../../base/name-suggestions.ts';
import { quoteValue } from '../../config/message-text.ts';
import type { ProbeTarget } from '../../model/probe/probe-provider.ts';
import { parseBaseUrl, type ParsedBaseUrl } from '../../model/providers/base-url.ts';
import {
  kindOfServer,
  type ConfiguredProvider,
} from '../../model/providers/configured-provider.ts';
import { discoverProviders } from '../../model/providers/providers.ts';
import { isPrivateHost } from '../../model/providers/vendors.ts';
import { isPreset, PRESET_NAMES, PRESETS } from '../../model/settings/presets.ts';
import type {
  ModelSettings,
  ProviderKind,
  ProviderSettings,
} from '../../model/settings/model-settings.ts';
import type { StoredAccount } from '../../protocol/api-key.ts';
import type { Environment } from '../../sys/env.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';

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
  refuseSecrets(url.url);
  const configured = findConfigured(url, sources.settings);
  if (configured !== null) return findNamed(configured, wish, sources);
  const kind = kindOfServer(url);
  const isKnownHost = isPreset(kind) && PRESETS[kind].hosts?.test(url.url.hostname) === true;
  const name = chooseName(url, isKnownHost ? kind : null, sources.settings);
  const own = wish.apiKeyEnv === null ? {} : { apiKeyEnv: wish.apiKeyEnv };
  const settingsOf = (one: ProviderKind): ProviderSettings => ({
    baseUrl: text,
    ...(isPreset(name) ? {} : { kind: one }),
    ...own,
  });
  const kinds = isKnownHost || isPreset(name) ? [kind] : [...new Set([kind, ...KINDS])];
  const [first, ...others] = kinds.flatMap((one) =>
    discoverProviders(
      { providers: { [name]: settingsOf(one) } },
      sources.environment,
      sources.accounts,
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

/** Returns the name of the provider that is configured with this base URL; null: none is. */
function findConfigured({ url }: ParsedBaseUrl, { providers }: ModelSettings): string | null {
  const found = Object.entries(providers).find(
    ([name, { baseUrl }]) =>
      baseUrl !== undefined &&
      parseBaseUrl(baseUrl, `models.providers.${name}.base_url`).url.href === url.href,
  );
  return found?.[0] ?? null;
}

/** Throws UsageError if the query of a URL holds a key, since the configuration would contain it. */
function refuseSecrets(url: URL): void {
  const secret = [...url.searchParams.keys()].find(
    (name) => isSecretVariable(name) || /^(?:key|sig|code|auth)$/i.test(name),
  );
  if (secret === undefined) return;
  throw new UsageError(
    `--provider must not hold a key (${quoteValue(secret)}); put it into a variable and name that with --api-key-env`,
  );
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

/** Chooses the name under which a server is configured. `known`: the provider to which its host belongs. */
function chooseName(
  { url }: ParsedBaseUrl,
  known: string | null,
  { providers }: ModelSettings,
): string {
  const base = known ?? localPreset(url) ?? nameOfHost(url);
  const isFree = (name: string): boolean => providers[name] === undefined;
  if (isFree(base)) return base;
  const withPort = `${base.replaceAll('.', '-')}-${url.port === '' ? 2 : url.port}`;
  for (let name = withPort, count = 2; ; name = `${withPort}-${count}`, count += 1) {
    if (isFree(name)) return name;
  }
}

/** Returns the known local server that uses the port of a URL; null: none is sure to. */
function localPreset({ port }: URL): 'ollama' | 'lmstudio' | null {
  if (port === '11434') return 'ollama';
  return port === '1234' ? 'lmstudio' : null;
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
