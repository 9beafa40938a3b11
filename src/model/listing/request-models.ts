import type { ModelFailure } from '../../protocol/model.ts';
import type { Clock } from '../../base/clock.ts';
import { MusterError } from '../../base/errors.ts';
import type { KeyReader } from '../../protocol/api-key.ts';
import type { ListedModel } from '../../protocol/listed-model.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import { EndpointKey } from '../adapters/endpoint-key.ts';
import { HttpStatusError, WrongServerError } from '../adapters/errors/answer-errors.ts';
import { toModelFailure } from '../adapters/errors/model-failure.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { CLOUDS } from '../settings/clouds.ts';
import type { ProtocolName } from '../settings/presets.ts';
import { ListConnection } from './list-connection.ts';
import { findNativeServer, recognizeServer, type NativeServer } from './native-lists.ts';
import { findEntries, findNextPage, ModelRows } from './read-list.ts';
import {
  requestLlamaProperties,
  requestNativeModels,
  type NativeOptions,
} from './request-native.ts';

export interface ListDeps {
  readonly fetch: HttpFetch;
  readonly clock: Clock;
  /** Reads keys that are not known from the start. Default: no provider has one. */
  readonly keys?: KeyReader;
}

export interface ListOptions {
  /** The time limit for the requests to the provider, in milliseconds. */
  readonly timeoutMs: number;
  /** The time limit for those that follow the list, if they have one of their own. */
  readonly factsMs?: number;
  /** True to ask also for the details of single models, each with a request of its own. */
  readonly isDetailed: boolean;
}

/** The list of a provider, or the reason why it could not be had. */
export type ListOutcome =
  | {
      readonly models: readonly ListedModel[];
      /** True if the provider has more models than these. */
      readonly isCut: boolean;
    }
  | { readonly problem: string };

/**
 * Requests the list of the models of a provider, with all facts that the provider states. A server that is known to
 * state more at an address of its own is asked there, too. Never rejects.
 */
export async function requestModels(
  provider: ConfiguredProvider,
  deps: ListDeps,
  options: ListOptions,
): Promise<ListOutcome> {
  const { cloud } = provider;
  if (cloud !== undefined && cloud.kind !== 'azure') {
    return {
      problem: `${CLOUDS[cloud.kind].title} has no list of models that can be asked for: name a model by its id`,
    };
  }
  // Reading a key has a time limit of its own.
  const { signal } = new AbortController();
  const key = new EndpointKey(provider, deps.keys, { signal, observer: undefined });
  const request = async (): Promise<ListOutcome> => {
    const { protocol } = provider;
    const server = { fetch: deps.fetch, protocol, endpoint: key.endpoint };
    const connection = new ListConnection(server, options.timeoutMs);
    const rows = await requestAll(provider, connection, options);
    return { models: withoutKey(rows.models, key.endpoint.apiKey), isCut: rows.isCut };
  };
  try {
    await key.read();
    try {
      return await request();
    } catch (thrown) {
      const failure = toFailure(thrown, { provider, key, now: deps.clock.now() });
      const unresolved = await key.renew(thrown, failure);
      if (unresolved !== null) throw unresolved;
      return await request();
    }
  } catch (thrown) {
    if (isTimeout(thrown)) {
      return { problem: `no answer within ${options.timeoutMs / 1000} s` };
    }
    return { problem: describeProblem(thrown, { provider, key, now: deps.clock.now() }) };
  }
}

function isTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'TimeoutError';
}

/** Shorter keys are no secrets: local servers accept any text as a key, which may be a common word. */
const MIN_SECRET_LENGTH = 8;

/** Removes the models with which a server sends the key back, which would then be printed and stored. */
function withoutKey(models: readonly ListedModel[], apiKey: string | null): readonly ListedModel[] {
  if (apiKey === null || apiKey.length < MIN_SECRET_LENGTH) return models;
  // Quotes and backslashes are escaped in the text of both.
  const shown = JSON.stringify(apiKey).slice(1, -1);
  return models.filter((model) => !JSON.stringify(model).includes(shown));
}

interface ProblemContext {
  readonly provider: ConfiguredProvider;
  readonly key: EndpointKey;
  readonly now: number;
}

function toFailure(thrown: unknown, { provider, key, now }: ProblemContext): ModelFailure {
  const context = { model: provider.name, server: key.endpoint, isAnswering: false, now };
  return toModelFailure(thrown, context);
}

function describeProblem(thrown: unknown, context: ProblemContext): string {
  const message =
    thrown instanceof MusterError
      ? thrown.message
      : toFailure(thrown, context).message.slice(`${context.provider.name}: `.length);
  return isMissing(thrown) ? `the server has no list of models: ${message}` : message;
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof HttpStatusError && (thrown.status === 404 || thrown.status === 405);
}

async function requestAll(
  provider: ConfiguredProvider,
  connection: ListConnection,
  { factsMs, isDetailed }: ListOptions,
): Promise<ModelRows> {
  const { baseUrl } = provider;
  const known = findNativeServer(provider);
  let listed: RequestedList;
  try {
    listed = await requestList(provider, connection);
  } catch (thrown) {
    if (known === null || !isWrongAnswer(thrown)) throw thrown;
    return requestNativeRows(known, { baseUrl, connection, isDetailed }, thrown);
  }
  const { rows, entries } = listed;
  const server = known ?? recognizeServer(entries);
  if (server !== null) {
    const following = factsMs === undefined ? connection : connection.withTimeout(factsMs);
    await addNativeFacts(rows, server, { baseUrl, connection: following, isDetailed });
  }
  return rows;
}

/** Returns true if a server has answered, but not with a list, and does not refuse the key or the account. */
function isWrongAnswer(thrown: unknown): boolean {
  if (thrown instanceof WrongServerError) return true;
  return thrown instanceof HttpStatusError && ![401, 402, 403, 429].includes(thrown.status);
}

interface NativeRequest extends NativeOptions {
  readonly connection: ListConnection;
}

/** Requests the own list of a server that has no other one. Rejects with `failure` if it has none either. */
async function requestNativeRows(
  server: NativeServer,
  { connection, ...options }: NativeRequest,
  failure: unknown,
): Promise<ModelRows> {
  const rows = new ModelRows();
  try {
    const { models } = await requestNativeModels(server, connection, options);
    for (const model of models) rows.add(model);
  } catch {
    // The failure of the usual list is the one that a person can do something about.
  }
  if (rows.size === 0) throw failure;
  return rows;
}

/** Adds what a server states at addresses of its own. Without an answer, the rows stay as they are. */
async function addNativeFacts(
  rows: ModelRows,
  server: NativeServer,
  { connection, ...options }: NativeRequest,
): Promise<void> {
  try {
    const { models, addsModels } = await requestNativeModels(server, connection, options);
    for (const model of models) {
      if (!rows.refine(model) && addsModels) rows.add(model);
    }
  } catch {
    // Older servers have no such list, and the account may not use it. What the usual list states stays.
  }
  const [only, other] = rows.models;
  // With several models it is a router, which would load a model to answer.
  if (server === 'llamacpp' && only !== undefined && other === undefined && only.loaded === null) {
    const properties = await requestLlamaProperties(only.id, connection, options);
    if (properties !== null) rows.refine(properties);
  }
}

interface RequestedList {
  readonly rows: ModelRows;
  /** The entries of the first page. */
  readonly entries: readonly unknown[];
}

/** Requests the list of the protocol under the first base URL that has one. */
async function requestList(
  { baseUrl, otherBaseUrl, protocol }: ConfiguredProvider,
  connection: ListConnection,
): Promise<RequestedList> {
  try {
    return await requestPages(`${baseUrl}/models`, protocol, connection);
  } catch (thrown) {
    const isWrong = thrown instanceof WrongServerError || isMissing(thrown);
    if (otherBaseUrl === undefined || !isWrong || connection.signal.aborted) throw thrown;
    try {
      return await requestPages(`${otherBaseUrl}/models`, protocol, connection);
    } catch {
      // The first address is the one that the person has written.
      throw thrown;
    }
  }
}

/** The largest pages that the protocols allow. Other servers send all models at once. */
const FIRST_QUERY: Readonly<Partial<Record<ProtocolName, string>>> = {
  anthropic: 'limit=1000',
  google: 'pageSize=1000',
};
const MAX_PAGES = 20;

async function requestPages(
  address: string,
  protocol: ProtocolName,
  connection: ListConnection,
): Promise<RequestedList> {
  const rows = new ModelRows();
  const firstQuery = FIRST_QUERY[protocol];
  const url = firstQuery === undefined ? address : `${address}?${firstQuery}`;
  const cursorName = protocol === 'anthropic' ? 'after_id' : 'after';
  let document = await connection.requestJson(url);
  const entries = findEntries(document);
  if (entries === null) throw new WrongServerError(`the answer is no list of models: ${address}`);
  let isGrowing = rows.addEntries(entries);
  for (let pages = 1; isGrowing && !rows.isCut; pages += 1) {
    const next = findNextPage(document, cursorName);
    if (next === null) break;
    const [name, cursor] = next;
    const parameter = `${name}=${encodeURIComponent(cursor)}`;
    try {
      if (pages === MAX_PAGES) throw new Error('too many pages');
      document = await connection.requestJson(`${url}${url.includes('?') ? '&' : '?'}${parameter}`);
    } catch {
      // The pages so far are a list, too.
      rows.isCut = true;
      break;
    }
    isGrowing = rows.addEntries(findEntries(document) ?? []);
  }
  return { rows, entries };
}
