import { ConcurrencyLimit } from '../../base/concurrency-limit.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { mergeFacts, unknownModel, type ListedModel } from '../../protocol/listed-model.ts';
import { isPrivateHost } from '../providers/vendors.ts';
import type { ListConnection } from './list-connection.ts';
import { nativeList, rootOf, type NativeServer } from './native-lists.ts';
import { findEntries, ModelRows } from './read-list.ts';
import { readFacts, toTokens } from './read-model.ts';

/** The models of a server's own list. */
export interface NativeModels {
  readonly models: readonly ListedModel[];
  /** True if models that only this list contains can be used, too. */
  readonly addsModels: boolean;
}

export interface NativeOptions {
  readonly baseUrl: string;
  /** True to ask also for the details of single models, each with a request of its own. */
  readonly isDetailed: boolean;
}

/** Requests the list that a server has at an address of its own. Rejects if it has none. */
export async function requestNativeModels(
  server: NativeServer,
  connection: ListConnection,
  options: NativeOptions,
): Promise<NativeModels> {
  const list = nativeList(server, { name: server, baseUrl: options.baseUrl });
  if (list === null) return { models: [], addsModels: false };
  const [rows, running] = await Promise.all([
    requestFirstList(list.urls, connection),
    server === 'ollama' ? requestRunningModels(connection, options) : null,
  ]);
  if (server === 'ollama') await addOllamaDetails(rows, running, { connection, ...options });
  return { models: rows.models, addsModels: list.addsModels };
}

async function requestFirstList(
  urls: readonly string[],
  connection: ListConnection,
): Promise<ModelRows> {
  let failure: unknown = null;
  for (const url of urls) {
    try {
      const rows = new ModelRows();
      rows.addEntries(findEntries(await connection.requestJson(url)) ?? []);
      if (rows.size > 0) return rows;
    } catch (thrown) {
      if (connection.signal.aborted) throw thrown;
      failure ??= thrown;
    }
  }
  throw failure ?? new Error('the list is empty');
}

/**
 * Requests the models that Ollama has in its memory, with the context windows with which they run. Returns null if the
 * server does not tell.
 */
async function requestRunningModels(
  connection: ListConnection,
  { baseUrl }: NativeOptions,
): Promise<ModelRows | null> {
  // In Ollama's cloud, no model is loaded for anybody in particular.
  if (!isPrivateHost(baseUrl)) return null;
  try {
    const entries = findEntries(await connection.requestJson(`${rootOf(baseUrl)}/api/ps`));
    if (entries === null) return null;
    const rows = new ModelRows();
    rows.addEntries(entries);
    return rows;
  } catch {
    // Older servers do not have this list, and the rest is right without it.
    return null;
  }
}

/** The maximum number of models that are asked for one by one, and how many of them at a time. */
const MAX_SHOWN = 100;
const SHOWN_AT_A_TIME = 8;

interface OllamaOptions extends NativeOptions {
  readonly connection: ListConnection;
}

async function addOllamaDetails(
  rows: ModelRows,
  running: ModelRows | null,
  { connection, baseUrl, isDetailed }: OllamaOptions,
): Promise<void> {
  if (isDetailed) {
    const limit = new ConcurrencyLimit(SHOWN_AT_A_TIME);
    const url = `${rootOf(baseUrl)}/api/show`;
    await Promise.all(
      rows.models.slice(0, MAX_SHOWN).map((model) =>
        limit.run(async () => {
          const details = await requestOllamaModel(model.id, url, connection);
          if (details !== null) rows.refine(details);
        }),
      ),
    );
  }
  if (running === null) return;
  for (const { id } of rows.models) rows.refine({ ...unknownModel(id), loaded: false });
  for (const model of running.models) rows.refine({ ...model, loaded: true });
}

async function requestOllamaModel(
  id: string,
  url: string,
  connection: ListConnection,
): Promise<ListedModel | null> {
  try {
    const document = await connection.requestJson(url, { model: id });
    return isJsonObject(document) ? readOllamaModel(id, document) : null;
  } catch {
    // The model may just have been deleted, or time is up. What the list says about it stays.
    return null;
  }
}

/** Reads Ollama's description of one model. A window that its Modelfile sets counts more than its largest one. */
function readOllamaModel(id: string, document: JsonObject): ListedModel {
  const { capabilities, parameters, model_info: info } = document;
  const set = typeof parameters === 'string' ? /^num_ctx\s+(\d{1,10})\s*$/m.exec(parameters) : null;
  const largest = isJsonObject(info)
    ? Object.entries(info).find(([name]) => name.endsWith('.context_length'))?.[1]
    : null;
  const contextWindow = toTokens(set?.[1]) ?? toTokens(largest);
  const facts = { id, ...readFacts(document) };
  // The list of capabilities is complete.
  const isComplete = Array.isArray(capabilities) && capabilities.length > 0;
  const otherwise = isComplete ? false : null;
  return mergeFacts(
    { ...unknownModel(id), contextWindow },
    {
      ...facts,
      images: facts.images ?? otherwise,
      reasoning: facts.reasoning ?? otherwise,
    },
  );
}

/**
 * Requests the properties of a llama.cpp server, which hold the context window of one conversation. Returns null if the
 * server does not tell them.
 */
export async function requestLlamaProperties(
  id: string,
  connection: ListConnection,
  { baseUrl }: NativeOptions,
): Promise<ListedModel | null> {
  try {
    const document = await connection.requestJson(`${rootOf(baseUrl)}/props`);
    return isJsonObject(document) ? { id, ...readFacts(document) } : null;
  } catch {
    // A server may keep its properties to itself (--no-props), and the list is right without them.
    return null;
  }
}
