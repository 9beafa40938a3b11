import type { ProviderConfig } from '../../config/providers.ts';
import type { Environment } from '../../sys/env.ts';
import { holdsCredentials, isSecretVariable } from '../../sys/secret-variables.ts';
import { SERVICES } from '../../web/search/search-services.ts';

/**
 * Finds the names of the environment variables that only the user's own servers may get: those whose names suggest a
 * secret, those that the configuration names as `api_key_env` of a provider, and those of web search services, unless
 * they hold an address without a password.
 */
export function findOwnSecrets(
  environment: Environment,
  providers: ReadonlyMap<string, Pick<ProviderConfig, 'apiKeyEnv'>>,
): ReadonlySet<string> {
  const keys = [...providers.values()].flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  const { searxng, ...servicesWithKeys } = SERVICES;
  return new Set([
    ...Object.keys(environment).filter(isSecretVariable),
    ...keys,
    ...Object.values(servicesWithKeys).flatMap(({ variables }) => variables),
    ...searxng.variables.filter((name) => holdsCredentials(environment[name] ?? '')),
  ]);
}
