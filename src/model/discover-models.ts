import { PRESETS } from './settings/presets.ts';
import { systemClock } from '../base/clock.ts';
import type { StoredAccount } from '../protocol/api-key.ts';
import { hasNoFacts, isForChat, type ListedModel } from '../protocol/listed-model.ts';
import type { Environment } from '../sys/env.ts';
import type { ModelSettings } from './settings/model-settings.ts';
import { hasUsableKey } from './providers/provider-key.ts';
import { type ConfiguredProvider, createKeylessProvider } from './providers/configured-provider.ts';
import { discoverProviders, describeUnusedVariables } from './providers/providers.ts';
import type { ListOutcome } from './listing/request-models.ts';
import { OFFLINE, type ModelSetup } from './selection/choose-model.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';
import { LM_STUDIO_PORT, OLLAMA_PORT } from './providers/vendors.ts';

/** The sources in which providers are looked for. */
export interface ModelSources {
  readonly env: Environment;
  readonly fetch: HttpFetch;
  /** The accounts that are signed in. */
  readonly accounts: readonly StoredAccount[];
  /** The provider of the models that a program brings along. Default: there is none. */
  readonly own?: ConfiguredProvider;
}

/**
 * Finds the providers and their models in the settings and the environment. If no provider is configured, it looks for
 * local servers (at most 50 ms, and 100 ms more for what one that is there states about its models). If no model is named
 * and no provider has a default model, it asks the configured local servers for their models (at most 2 s). Throws
 * UsageError for invalid settings.
 */
export async function discoverModels(
  settings: ModelSettings,
  sources: ModelSources,
): Promise<ModelSetup> {
  const problems = [...describeUnusedVariables(sources.env)];
  const addProblem = (problem: string): void => void problems.push(problem);
  const providers = await findProviders(settings, sources, addProblem);
  return { settings, providers, ...(problems.length > 0 && { problems }) };
}

async function findProviders(
  settings: ModelSettings,
  { env, fetch, accounts, own }: ModelSources,
  addProblem: (problem: string) => void,
): Promise<readonly ConfiguredProvider[]> {
  const found = discoverProviders(settings, env, accounts);
  // The models of a program take precedence over a configured server of the same name.
  const others = found.filter(({ name }) => name !== own?.name);
  const configured = own === undefined ? found : [own, ...others];
  const named = settings.flag ?? settings.default;
  if (configured.length === 0) {
    const offline = named?.trim().toLowerCase() === OFFLINE;
    return offline ? [] : discoverLocalServers(fetch, addProblem);
  }
  if (named !== undefined || own !== undefined || configured.some(hasDefaultModel))
    return configured;
  return Promise.all(configured.map((provider) => addServedModels(provider, fetch)));
}

function hasDefaultModel(provider: ConfiguredProvider): boolean {
  return hasUsableKey(provider) && Object.keys(provider.tiers).length > 0;
}

/** The time limit for probing both local servers: a server that is not there must not delay the start. */
const LOCAL_PROBE_TIMEOUT_MS = 50;
/** The time limit for what a server that is there states about its models, beside their list. */
const LOCAL_FACTS_MS = 100;
/** The time limit for the model list of a configured server. */
const MODEL_LIST_TIMEOUT_MS = 2000;

const PORTS = { ollama: OLLAMA_PORT, lmStudio: LM_STUDIO_PORT };

/**
 * Finds Ollama and LM Studio on this machine if they answer within 50 ms and serve a model. Call it only when no
 * provider is configured. Never rejects. `addProblem` takes a sentence about each server that has no model.
 */
export async function discoverLocalServers(
  fetch: HttpFetch,
  addProblem: (problem: string) => void,
  ports: Readonly<typeof PORTS> = PORTS,
): Promise<readonly ConfiguredProvider[]> {
  const found = await Promise.all([
    probeLocalServer('ollama', ports.ollama, fetch, addProblem),
    probeLocalServer('lmstudio', ports.lmStudio, fetch, addProblem),
  ]);
  return found.filter((provider) => provider !== null);
}

async function probeLocalServer(
  name: 'ollama' | 'lmstudio',
  port: string,
  fetch: HttpFetch,
  addProblem: (problem: string) => void,
): Promise<ConfiguredProvider | null> {
  const url = { url: new URL(`http://127.0.0.1:${port}/v1`), endpoint: 'openai-chat' as const };
  const provider = createKeylessProvider(name, url, `found on port ${port}`);
  const listed = await listModels(provider, fetch, LOCAL_PROBE_TIMEOUT_MS);
  if ('problem' in listed) return null;
  const { models } = listed;
  if (models.length === 0) {
    const { title } = PRESETS[name];
    addProblem(`${title} runs on port ${port} but has no model. Download one in ${title} first.`);
    return null;
  }
  return addModels(provider, models);
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
  const listed = await listModels(provider, fetch, MODEL_LIST_TIMEOUT_MS);
  return 'problem' in listed
    ? { ...provider, listProblem: listed.problem }
    : addModels(provider, listed.models);
}

function addModels(
  provider: ConfiguredProvider,
  listed: readonly ListedModel[],
): ConfiguredProvider {
  const balanced = chooseServedModel(listed);
  return {
    ...provider,
    models: listed.map(({ id }) => id),
    tiers: balanced === null ? {} : { balanced },
    ...(listed.every(hasNoFacts) ? {} : { listed }),
  };
}

/**
 * Chooses the default model of a local server: the first one that can call tools, if possible one that is loaded, since
 * loading another one takes minutes. Returns null if there is none for conversations.
 */
export function chooseServedModel(listed: readonly ListedModel[]): string | null {
  const rank = ({ tools, loaded }: ListedModel): number =>
    (tools === false ? 0 : 2) + (loaded === true ? 1 : 0);
  const [best] = listed.filter(isForChat).toSorted((a, b) => rank(b) - rank(a));
  return best?.id ?? null;
}

/** Requests the list of a local server. A key that is read late is not used. */
async function listModels(
  provider: ConfiguredProvider,
  fetch: HttpFetch,
  timeoutMs: number,
): Promise<ListOutcome> {
  const { requestModels } = await import('./listing/request-models.ts');
  const options = { timeoutMs, factsMs: LOCAL_FACTS_MS, isDetailed: false };
  return requestModels(provider, { fetch, clock: systemClock }, options);
}
