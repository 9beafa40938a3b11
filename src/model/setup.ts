import type { Environment } from '../sys/env.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';
import { discoverLocal, withModels } from './local.ts';
import type { ModelSettings } from './model-settings.ts';
import { hasUsableKey } from './provider-key.ts';
import { discoverProviders, unusedLlmVariables, type ConfiguredProvider } from './providers.ts';
import { OFFLINE, type ModelSetup } from './choose.ts';

/**
 * Finds out what models there are: from settings and environment alone where those say enough.
 * Else the local servers are asked (50 ms at most), or, where no model is named and none known by
 * default, the configured local ones what they serve (2 s at most). Throws UsageError for settings
 * that can't be meant.
 */
export async function discoverModels(
  settings: ModelSettings,
  env: Environment,
  fetch: HttpFetch,
): Promise<ModelSetup> {
  const problems = unusedLlmVariables(env);
  return {
    ...(await reachableModels(settings, env, fetch)),
    ...(problems.length > 0 && { problems }),
  };
}

async function reachableModels(
  settings: ModelSettings,
  env: Environment,
  fetch: HttpFetch,
): Promise<ModelSetup> {
  const configured = discoverProviders(settings, env);
  const named = settings.flag ?? settings.default;
  if (configured.length === 0) {
    const offline = named?.trim().toLowerCase() === OFFLINE;
    return { settings, providers: offline ? [] : await discoverLocal(fetch) };
  }
  if (named !== undefined || configured.some(hasDefault))
    return { settings, providers: configured };
  const providers = await Promise.all(configured.map((one) => withModels(one, fetch)));
  return { settings, providers };
}

function hasDefault(provider: ConfiguredProvider): boolean {
  return hasUsableKey(provider) && Object.keys(provider.tiers).length > 0;
}
