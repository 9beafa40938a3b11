import type { Environment } from '../sys/env.ts';
import { discoverLocalServers, addServedModels } from './providers/local-servers.ts';
import type { ModelSettings } from './settings/model-settings.ts';
import { hasUsableKey } from './providers/provider-key.ts';
import {
  discoverProviders,
  describeUnusedLlmVariables,
  type ConfiguredProvider,
} from './providers/providers.ts';
import { OFFLINE, type ModelSetup } from './selection/choose-model.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';

/**
 * Finds the providers and their models in the settings and the environment. If no provider is configured, it
 * looks for local servers (at most 50 ms). If no model is named and no provider has a default model, it asks the
 * configured local servers for their models (at most 2 s). Throws UsageError for invalid settings.
 */
export async function discoverModels(
  settings: ModelSettings,
  env: Environment,
  fetch: HttpFetch,
): Promise<ModelSetup> {
  const problems = describeUnusedLlmVariables(env);
  const providers = await findProviders(settings, env, fetch);
  return { settings, providers, ...(problems.length > 0 && { problems }) };
}

async function findProviders(
  settings: ModelSettings,
  env: Environment,
  fetch: HttpFetch,
): Promise<readonly ConfiguredProvider[]> {
  const configured = discoverProviders(settings, env);
  const named = settings.flag ?? settings.default;
  if (configured.length === 0) {
    const offline = named?.trim().toLowerCase() === OFFLINE;
    return offline ? [] : discoverLocalServers(fetch);
  }
  if (named !== undefined || configured.some(hasDefault)) return configured;
  return Promise.all(configured.map((one) => addServedModels(one, fetch)));
}

function hasDefault(provider: ConfiguredProvider): boolean {
  return hasUsableKey(provider) && Object.keys(provider.tiers).length > 0;
}
