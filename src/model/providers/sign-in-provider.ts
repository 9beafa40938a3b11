import { sortByNearness } from '../../base/name-suggestions.ts';
import { UsageError } from '../../base/errors.ts';
import type { StoredAccount } from '../../protocol/api-key.ts';
import type { Environment } from '../../sys/env.ts';
import type { ModelSettings, ProviderSettings } from '../settings/model-settings.ts';
import { isPreset, PRESET_NAMES, PRESETS } from '../settings/presets.ts';
import { findRetiredProvider } from '../settings/retired-providers.ts';
import { parseBaseUrl, refuseSecretQuery } from './base-url.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import { describeAccount } from './provider-key.ts';
import { discoverProviders } from './providers.ts';

/** The sources of addresses and settings of providers. */
export interface SignInSources {
  readonly settings: ModelSettings;
  readonly env: Environment;
}

/**
 * Returns the provider to which a key would be sent if it were stored as this account: with its address and settings,
 * and with no other key. Throws UsageError for an unknown provider, for an address that holds a key, and for one that
 * the settings contradict.
 */
export function findSignInProvider(
  account: StoredAccount,
  { settings, env }: SignInSources,
): ConfiguredProvider {
  const { provider: name, baseUrl, key } = account;
  const given = baseUrl === undefined ? null : parseBaseUrl(baseUrl, '--base-url');
  if (given !== null) refuseSecretQuery(given, '--base-url', 'muster login asks for the key');
  const own = settings.providers[name];
  if (own === undefined && given === null && !isPreset(name)) throw unknownProvider(name, settings);
  const server = withoutKey(own ?? (baseUrl === undefined ? {} : { baseUrl }));
  const found = discoverProviders({ providers: { [name]: server } }, selectAddresses(env)).find(
    (each) => each.name === name,
  );
  if (found === undefined) throw unknownProvider(name, settings);
  const { origin } = new URL(found.baseUrl);
  if (given !== null && given.url.origin !== origin) {
    throw new UsageError(
      `${describeAccount(account)} is for ${baseUrl}, and is not sent to ${origin}, the address in [models.providers.${name}]`,
    );
  }
  const { missingKey: _, ...provider } = found;
  return { ...provider, apiKey: key };
}

function withoutKey(settings: ProviderSettings): ProviderSettings {
  const {
    apiKeyEnv: _env,
    apiKeyCommand: _command,
    apiKeyFile: _file,
    account: _account,
    ...rest
  } = settings;
  return rest;
}

/** Selects the variables with base URLs, without those with keys. */
function selectAddresses(env: Environment): Environment {
  const names = PRESET_NAMES.flatMap((name) => PRESETS[name].baseUrlKey ?? []);
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

function unknownProvider(name: string, { providers }: ModelSettings): UsageError {
  const retired = findRetiredProvider(name);
  if (retired !== undefined) return new UsageError(retired.notice);
  const known = sortByNearness(name, [...PRESET_NAMES, ...Object.keys(providers)]).join(', ');
  return new UsageError(
    `there is no provider ${JSON.stringify(name)}; known, nearest first: ${known}. For another server, add its address: --base-url https://host/v1`,
  );
}

/** Returns the names of the known providers and of those in the settings. */
export function listProviderNames({ providers }: ModelSettings): readonly string[] {
  return [...PRESET_NAMES, ...Object.keys(providers).filter((name) => !isPreset(name))];
}
