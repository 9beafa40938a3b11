import type { Environment } from '../sys/env.ts';
import type { HttpFetch } from '../sys/http.ts';
import { discoverLocal, withModels } from './local.ts';
import { discoverProviders, type ModelSettings } from './providers.ts';
import { OFFLINE, type ModelSetup } from './resolve.ts';

/**
 * Finds out what models there are: from settings and environment alone where those say enough,
 * else by asking the local servers (50 ms at most), or one named local server what it serves.
 * Throws UsageError for settings that can't be meant.
 */
export async function discoverModels(
  settings: ModelSettings,
  env: Environment,
  fetch: HttpFetch,
): Promise<ModelSetup> {
  const configured = discoverProviders(settings, env);
  if (configured.length > 0) {
    const providers = await Promise.all(configured.map((one) => withModels(one, fetch)));
    return { settings, providers };
  }
  if (settings.flag?.trim().toLowerCase() === OFFLINE) return { settings, providers: [] };
  return { settings, providers: await discoverLocal(fetch) };
}
