import { sortByNearness } from '../../base/name-suggestions.ts';
import { UsageError } from '../../base/errors.ts';
import type { StoredAccount } from '../../protocol/api-key.ts';
import type { Environment } from '../../sys/env.ts';
import type { ModelSettings, ProviderSettings } from '../settings/model-settings.ts';
import { isPreset, PRESET_NAMES, PRESETS } from '../settings/presets.ts';
import { findRetiredProvider } from '../settings/retired-providers.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import { discoverProviders } from './providers.ts';

/** The sources of addresses and settings of providers. */
export interface SignInSources {
  readonly settings: ModelSettings;
  readonly env: Environment;
}

/**
 * Returns the provider to which a key would be sent if it were stored as this account: with its address and settings,
 * and with no other key. Throws UsageError for an unknown provider, and for an address that its settings contradict.
 */
export function findSignInProvider(
  account: StoredAccount,
  { settings, env }: SignInSources,
): ConfiguredProvider {
  const { provider: name } = account;
  const own = settings.providers[name];
  const providers = own === undefined ? {} : { [name]: withoutKey(own, account.account) };
  const found = discoverProviders({ providers }, selectAddresses(env), [account]).find(
    (each) => each.name === name,
  );
  if (found === undefined) throw unknownProvider(name, settings);
  if (found.keyProblem !== undefined) throw new UsageError(found.keyProblem);
  return found;
}

/** Returns the settings with the account as their only key. */
function withoutKey(settings: ProviderSettings, account: string): ProviderSettings {
  const { apiKeyEnv: _env, apiKeyCommand: _command, apiKeyFile: _file, ...rest } = settings;
  return { ...rest, account };
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
