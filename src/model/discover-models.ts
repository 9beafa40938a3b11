import type { StoredAccount } from '../protocol/api-key.ts';
import type { Environment } from '../sys/env.ts';
import type { ModelSettings } from './settings/model-settings.ts';
import { hasUsableKey } from './providers/provider-key.ts';
import { type ConfiguredProvider, createKeylessProvider } from './providers/configured-provider.ts';
import { discoverProviders, describeUnusedVariables } from './providers/providers.ts';
import { OFFLINE, type ModelSetup } from './selection/choose-model.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';
import { isJsonObject } from '../base/json.ts';
import { LM_STUDIO_PORT, OLLAMA_PORT } from './providers/vendors.ts';

/** The sources in which providers are looked for. */
export interface ModelSources {
  readonly env: Environment;
  readonly fetch: HttpFetch;
  /** The accounts that are signed in. */
  readonly accounts: readonly StoredAccount[];
}

/**
 * Finds the providers and their models in the settings and the environment. If no provider is configured, it
 * looks for local servers (at most 50 ms). If no model is named and no provider has a default model, it asks the
 * configured local servers for their models (at most 2 s). Throws UsageError for invalid settings.
 */
export async function discoverModels(
  settings: ModelSettings,
  sources: ModelSources,
): Promise<ModelSetup> {
  const problems = describeUnusedVariables(sources.env);
  const providers = await findProviders(settings, sources);
  return { settings, providers, ...(problems.length > 0 && { problems }) };
}

async function findProviders(
  settings: ModelSettings,
  { env, fetch, accounts }: ModelSources,
): Promise<readonly ConfiguredProvider[]> {
  const configured = discoverProviders(settings, env, accounts);
  const named = settings.flag ?? settings.default;
  if (configured.length === 0) {
    const offline = named?.trim().toLowerCase() === OFFLINE;
    return offline ? [] : discoverLocalServers(fetch);
  }
  if (named !== undefined || configured.some(hasDefaultModel)) return configured;
  return Promise.all(configured.map((provider) => addServedModels(provider, fetch)));
}

function hasDefaultModel(provider: ConfiguredProvider): boolean {
  return hasUsableKey(provider) && Object.keys(provider.tiers).length > 0;
}

/** The time limit for probing both local servers. It is short, so that a missing server does not delay the start. */
const LOCAL_PROBE_TIMEOUT_MS = 50;
/** The time limit for the model list of a configured server. */
const MODEL_LIST_TIMEOUT_MS = 2000;

const PORTS = { ollama: OLLAMA_PORT, lmStudio: LM_STUDIO_PORT };

/**
 * Finds Ollama and LM Studio on this machine if they answer within 50 ms and serve a model. Call it only when no
 * provider is configured. Never rejects.
 */
export async function discoverLocalServers(
  fetch: HttpFetch,
  ports: Readonly<typeof PORTS> = PORTS,
): Promise<readonly ConfiguredProvider[]> {
  const signal = AbortSignal.timeout(LOCAL_PROBE_TIMEOUT_MS);
  const found = await Promise.all([
    probeLocalServer('ollama', ports.ollama, fetch, signal),
    probeLocalServer('lmstudio', ports.lmStudio, fetch, signal),
  ]);
  return found.filter((provider) => provider !== null);
}

async function probeLocalServer(
  name: 'ollama' | 'lmstudio',
  port: string,
  fetch: HttpFetch,
  signal: AbortSignal,
): Promise<ConfiguredProvider | null> {
  const url = { url: new URL(`http://127.0.0.1:${port}/v1`), endpoint: 'openai-chat' as const };
  const provider = createKeylessProvider(name, url, `found on port ${port}`);
  const models = await listModels(provider, fetch, signal);
  return models === null || models.length === 0 ? null : addModels(provider, models);
}

/**
 * Adds the list of served models to a local provider without tiers and without a list, because such a provider
 * could not be used by default. Never rejects. Returns the provider unchanged if its server does not answer.
 */
export async function addServedModels(
  provider: ConfiguredProvider,
  fetch: HttpFetch,
): Promise<ConfiguredProvider> {
  const hasModels = provider.models !== null || Object.keys(provider.tiers).length > 0;
  if (hasModels || provider.protocol !== 'openai-chat' || !provider.isPrivate) return provider;
  const models = await listModels(provider, fetch, AbortSignal.timeout(MODEL_LIST_TIMEOUT_MS));
  return models === null ? provider : addModels(provider, models);
}

function addModels(provider: ConfiguredProvider, models: readonly string[]): ConfiguredProvider {
  const chatModel = models.find((id) => !/embed|rerank|whisper|bge-/i.test(id));
  return { ...provider, models, tiers: chatModel === undefined ? {} : { balanced: chatModel } };
}

/** Requests `GET /v1/models`, which Ollama, LM Studio, llama.cpp and vLLM answer. Returns null if the request fails. */
async function listModels(
  { baseUrl, apiKey, query }: ConfiguredProvider,
  fetch: HttpFetch,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  try {
    const headers: Record<string, string> =
      apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
    const address = `${baseUrl}/models${query === undefined ? '' : `?${query}`}`;
    const response = await fetch(address, { signal, headers });
    const body: unknown = await response.json();
    const list = isJsonObject(body) && Array.isArray(body.data) ? body.data : null;
    return (
      list?.flatMap((entry) =>
        isJsonObject(entry) && typeof entry.id === 'string' ? [entry.id] : [],
      ) ?? null
    );
  } catch {
    // The server is missing, too slow, or not a model server. In each case there is no list of models.
    return null;
  }
}
