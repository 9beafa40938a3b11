import { isJsonObject } from '../base/json.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';
import { LM_STUDIO_PORT, OLLAMA_PORT } from './defaults.ts';
import { provider, type ConfiguredProvider } from './providers.ts';

/** For both local servers together: nobody waits for what is not there. */
const LOCAL_PROBE_MS = 50;
/** For the list of a server that the user has named. */
const LIST_MS = 2000;

interface LocalPorts {
  readonly ollama: string;
  readonly lmStudio: string;
}

const PORTS: LocalPorts = { ollama: OLLAMA_PORT, lmStudio: LM_STUDIO_PORT };

/**
 * Ollama and LM Studio on this machine, as far as they answer within 50 ms and have a model. Only
 * asked when nothing else is configured. Never rejects.
 */
export async function discoverLocal(
  fetch: HttpFetch,
  ports: LocalPorts = PORTS,
): Promise<readonly ConfiguredProvider[]> {
  const signal = AbortSignal.timeout(LOCAL_PROBE_MS);
  const found = await Promise.all([
    askLocal('ollama', ports.ollama, fetch, signal),
    askLocal('lmstudio', ports.lmStudio, fetch, signal),
  ]);
  return found.filter((one) => one !== null);
}

async function askLocal(
  name: string,
  port: string,
  fetch: HttpFetch,
  signal: AbortSignal,
): Promise<ConfiguredProvider | null> {
  const url = { url: new URL(`http://127.0.0.1:${port}/v1`), endpoint: 'openai-chat' as const };
  const bare = provider({
    name,
    protocol: 'openai-chat',
    url,
    key: { apiKey: null },
    source: `found on port ${port}`,
    vendor: null,
  });
  const models = await listModels(bare, fetch, signal);
  return models === null || models.length === 0 ? null : serving(bare, models);
}

/**
 * The provider with what it serves, where that has to be asked for: without a tier or a list it
 * could not be used by default. Never rejects; a server that does not answer stays as it is.
 */
export async function withModels(
  bare: ConfiguredProvider,
  fetch: HttpFetch,
): Promise<ConfiguredProvider> {
  const needless = bare.models !== null || Object.keys(bare.tiers).length > 0;
  if (needless || bare.protocol !== 'openai-chat' || !bare.isPrivate) return bare;
  const models = await listModels(bare, fetch, AbortSignal.timeout(LIST_MS));
  return models === null ? bare : serving(bare, models);
}

function serving(bare: ConfiguredProvider, models: readonly string[]): ConfiguredProvider {
  const chat = models.find((id) => !/embed|rerank|whisper|bge-/i.test(id));
  return { ...bare, models, tiers: chat === undefined ? {} : { balanced: chat } };
}

/** `GET /v1/models`, which Ollama, LM Studio, llama.cpp and vLLM all answer, newest first. */
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
    // Nobody there, too slow, or no model server: all the same answer to this question.
    return null;
  }
}
