import { systemClock } from '../../base/clock.ts';
import { MusterError } from '../../base/errors.ts';
import { sortByNearness } from '../../base/name-suggestions.ts';
import { completeModel } from '../../model/catalogue/complete-model.ts';
import {
  listProviderModels,
  readStoredModels,
  type AskedModels,
  type ProviderModels,
} from '../../model/listing/list-models.ts';
import type { ConfiguredProvider } from '../../model/providers/configured-provider.ts';
import { OFFLINE, type ModelSetup } from '../../model/selection/choose-model.ts';
import type { KeyReader } from '../../protocol/api-key.ts';
import { isForChat, type ListedModel } from '../../protocol/listed-model.ts';
import { modelName, type ResolvedModel } from '../../protocol/model.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import { openModelLists } from '../setup/model-lists.ts';

/** The models of a configured provider. */
export interface ListedModels {
  readonly provider: string;
  /** Sorted by id. */
  readonly models: readonly ListedModel[];
  /** False if the provider may have more models: it never answered, its list was cut, or it could not be asked again. */
  readonly isComplete: boolean;
  /** The reason why the provider could not be asked now, or null. */
  readonly problem: string | null;
}

export interface ModelListOptions {
  /**
   * Whether providers are asked whose list is older than a day. Otherwise only the stored lists are read, or the models
   * that the configuration names.
   */
  readonly isAsking: boolean;
}

export interface ModelListDeps {
  readonly setup: ModelSetup;
  readonly fetch: HttpFetch;
  readonly keys: KeyReader;
  /** The state directory, which holds the stored lists. */
  readonly directory: string;
}

/** Lists the models of all configured providers. They are asked at the same time, and their lists are stored. */
export async function listSessionModels(
  { setup, fetch, keys, directory }: ModelListDeps,
  { isAsking }: ModelListOptions,
): Promise<readonly ListedModels[]> {
  const store = openModelLists(directory);
  const stored = withoutFailure(() => store.all());
  const request = { fetch, clock: systemClock, keys, stored: stored ?? [], isRefresh: false };
  const listed = await Promise.all(
    setup.providers.map(async (provider) => {
      const result: AskedModels = isAsking
        ? await listProviderModels(provider, request)
        : readStoredModels(provider, request.stored);
      return { provider, result };
    }),
  );
  const newLists = listed.flatMap(({ result }) => result.newList ?? []);
  // Lists that cannot be read must not be replaced.
  if (stored !== null && newLists.length > 0) withoutFailure(() => store.save(newLists));
  return Promise.all(listed.map(({ provider, result }) => describeList(provider, result, setup)));
}

/** Returns null if the stored lists cannot be used. They are a cache, and `muster models` reports the reason. */
function withoutFailure<Result>(act: () => Result): Result | null {
  try {
    return act();
  } catch (thrown) {
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}

async function describeList(
  provider: ConfiguredProvider,
  { models, askedAt, isCut, problem }: ProviderModels,
  { settings }: ModelSetup,
): Promise<ListedModels> {
  const complete = models.map((model) => {
    const name = modelName({ provider: provider.name, id: model.id });
    return completeModel(provider, model, settings.catalogue?.get(name));
  });
  const sorted = (await Promise.all(complete)).toSorted((a, b) => COLLATOR.compare(a.id, b.id));
  // An old list of a provider that cannot be asked now may lack its newest models.
  const isComplete = askedAt !== null && !isCut && problem === null;
  return { provider: provider.name, models: sorted, isComplete, problem };
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

/**
 * Finds the model that a name means. `resolve` returns the model by the configuration alone, or throws. Providers are
 * asked only if what is stored does not settle it. Rejects with MusterError if no provider has the model.
 */
export async function findSessionModel(
  name: string,
  deps: ModelListDeps,
  resolve: (name: string) => ResolvedModel,
): Promise<string> {
  const find = (lists: readonly ListedModels[]): { full: string; isListed: boolean } => {
    const provider = findProviderOf(name, lists);
    const full = provider === null ? name : `${provider}/${name}`;
    const model = resolveOrSuggest(full, lists, resolve);
    return { full, isListed: model.tier !== undefined || isListed(model, deps.setup, lists) };
  };
  try {
    const found = find(await listSessionModels(deps, { isAsking: false }));
    if (found.isListed) return found.full;
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
  }
  // A model that is new, or that no provider has, has to be looked for in the newest list.
  return find(await listSessionModels(deps, { isAsking: true })).full;
}

/** Resolves a name. The reason why it means nothing is followed by the nearest names. */
function resolveOrSuggest(
  name: string,
  lists: readonly ListedModels[],
  resolve: (name: string) => ResolvedModel,
): ResolvedModel {
  try {
    return resolve(name);
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || !/no configured provider has/.test(thrown.message)) {
      throw thrown;
    }
    throw unknownModelError(name, lists);
  }
}

/**
 * Whether the list of a chosen model's provider, or the configuration, contains the model. Throws MusterError with the
 * nearest names if it does not and the list is complete.
 */
function isListed(
  model: ResolvedModel,
  { providers }: Pick<ModelSetup, 'providers'>,
  lists: readonly ListedModels[],
): boolean {
  const list = lists.find(({ provider }) => provider === model.provider);
  if (model.provider === OFFLINE || list === undefined) return true;
  const configured = providers.find(({ name }) => name === model.provider);
  const named = [...(configured?.models ?? []), ...Object.values(configured?.tiers ?? {})];
  if (named.includes(model.id) || list.models.some(({ id }) => isSameId(id, model.id))) return true;
  if (list.isComplete) throw unknownModelError(modelName(model), lists);
  return false;
}

/** Whether two ids name the same model: without the tag of a variant, the date of a version, or `latest`. */
function isSameId(listed: string, requested: string): boolean {
  const [a, b] = [listed.toLowerCase(), requested.toLowerCase()];
  if (a === b || a.replace(VARIANT, '') === b.replace(VARIANT, '')) return true;
  return a.replace(VERSION, '') === b.replace(VERSION, '');
}

/** Ends an id: `:free`, `:latest`. */
const VARIANT = /:[\w.-]+$/;
/** Ends an id: `-20260101`, `-2026-01-01`, `-latest`, `-0`. */
const VERSION = /-(?:\d{8}|\d{4}-\d\d-\d\d|latest|0)$/;

const MAX_NEAREST = 3;
/** The maximum number of names that are compared, since comparing takes time. */
const MAX_COMPARED = 3_000;

/** Creates the error for a model that no provider has. It names the most similar models. */
function unknownModelError(name: string, lists: readonly ListedModels[]): MusterError {
  const names = lists.flatMap(({ provider, models }) =>
    models.filter(isForChat).map(({ id }) => `${provider}/${id}`),
  );
  const near = sortByNearness(name, names.slice(0, MAX_COMPARED)).slice(0, MAX_NEAREST);
  const nearest = near.length === 0 ? '' : `; the nearest: ${near.join(', ')}`;
  return new MusterError('INVALID_PARAM', `no provider has a model "${name}"${nearest}`);
}

/** Finds the only provider that lists an id; null if none or several list it. */
function findProviderOf(id: string, lists: readonly ListedModels[]): string | null {
  const having = lists.filter(({ models }) =>
    models.some((model) => model.id.toLowerCase() === id.toLowerCase()),
  );
  const [only] = having;
  return only === undefined || having.length > 1 ? null : only.provider;
}
