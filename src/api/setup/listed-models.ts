import { systemClock } from '../../base/clock.ts';
import { MusterError, UsageError } from '../../base/errors.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { completeModel } from '../../model/catalogue/complete-model.ts';
import { listProviderModels, type ProviderModels } from '../../model/listing/list-models.ts';
import type { ListStore, StoredList } from '../../model/listing/stored-list.ts';
import type { ConfiguredProvider } from '../../model/providers/configured-provider.ts';
import type { ModelSettings } from '../../model/settings/model-settings.ts';
import { isPreset, PRESETS } from '../../model/settings/presets.ts';
import type { ListedModel } from '../../protocol/listed-model.ts';
import { modelName } from '../../protocol/model.ts';
import { stateDirectory, type StateOptions } from '../../trust/state-directory.ts';
import { loadKeyReader } from './accounts.ts';
import { openModelLists } from './model-lists.ts';
import { readModels, type ModelsReport, type ProviderReport } from './models-report.ts';

/** The models that a provider has. */
interface ModelListReport {
  /** The models that were searched for, sorted; null: this provider was not asked. */
  readonly models: readonly ListedModel[] | null;
  /** The number of all its models. */
  readonly modelCount: number | null;
  /** False if the provider has even more models. */
  readonly isListComplete: boolean;
  /**
   * The time at which the provider was asked, ISO 8601; null: it never answered, and `models` are those that the
   * configuration names.
   */
  readonly listedAt: string | null;
  /** The reason why the provider could not be asked now, or null. */
  readonly listProblem: string | null;
}

export interface ListedModelsReport extends ModelsReport {
  readonly providers: readonly (ProviderReport & ModelListReport)[];
}

export interface ListedModelsOptions {
  /** The options that locate the state directory. Commands that print a key run in its `home`. */
  readonly state: StateOptions;
  /** The name of the only provider whose models are listed; null: all of them. */
  readonly provider: string | null;
  /** The words that the id of each listed model has, in any order and case; null: all models are listed. */
  readonly search: string | null;
  /** True to ask the providers even if they were asked less than a day ago. */
  readonly isRefresh: boolean;
}

/**
 * Reports the configured models, and those that each provider has. The providers are asked at the same time, at most
 * once a day, and their lists are stored. Throws UsageError for settings that contradict each other, and for a provider
 * that is not configured.
 */
export async function reportListedModels(
  loaded: LoadedConfig,
  options: ListedModelsOptions,
): Promise<ListedModelsReport> {
  const { state, isRefresh } = options;
  const { environment, home } = state;
  const { setup, fetch, report } = await readModels(loaded, state);
  const wanted = chooseProviders(setup.providers, options.provider, report.problems);
  const problems: string[] = [];
  const store = openModelLists(stateDirectory(state));
  const stored = readStored(store, problems);
  const keys = loadKeyReader({ environment, home, clock: systemClock, fetch, onKey: () => {} });
  const request = { fetch, clock: systemClock, keys, stored: stored ?? [], isRefresh };
  const results = await Promise.all(wanted.map((one) => listProviderModels(one, request)));
  const newLists = results.flatMap(({ newList }) => newList ?? []);
  if (stored !== null) saveLists(store, newLists, problems);
  const lists = new Map<string, ModelListReport>();
  for (const [index, provider] of wanted.entries()) {
    const result = results[index];
    if (result === undefined) continue;
    lists.set(provider.name, await listReport(provider, result, { ...options, ...setup }));
  }
  return {
    ...report,
    providers: report.providers.map((one) => ({ ...one, ...(lists.get(one.name) ?? NOT_ASKED) })),
    problems: [...report.problems, ...problems],
  };
}

const NOT_ASKED: ModelListReport = {
  models: null,
  modelCount: null,
  isListComplete: true,
  listedAt: null,
  listProblem: null,
};

function chooseProviders(
  providers: readonly ConfiguredProvider[],
  name: string | null,
  problems: readonly string[],
): readonly ConfiguredProvider[] {
  if (name === null) return providers;
  const found = providers.filter((one) => one.name === name.toLowerCase());
  if (found.length > 0) return found;
  const names = providers.map((one) => one.name).join(', ');
  const others = names === '' ? 'no provider is' : `configured: ${names}`;
  throw new UsageError(
    [`the provider "${name}" is not configured (${others})${adviceFor(name)}`, ...problems].join(
      '\n',
    ),
  );
}

/** Returns how a known provider is configured, to be appended to a message. */
function adviceFor(name: string): string {
  if (!isPreset(name)) return '';
  const [variable] = PRESETS[name].keys;
  if (PRESETS[name].isLocal === true || variable === undefined) {
    return `: add [models.providers.${name}] to the configuration`;
  }
  return `: set ${variable}, or run "muster login ${name}"`;
}

/** Reads the stored lists. Returns null if their file cannot be used, so that it cannot be written either. */
function readStored(store: ListStore, problems: string[]): readonly StoredList[] | null {
  try {
    return store.all();
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    problems.push(`No list of models is stored: ${thrown.message}`);
    return null;
  }
}

function saveLists(store: ListStore, lists: readonly StoredList[], problems: string[]): void {
  if (lists.length === 0) return;
  try {
    store.save(lists);
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    problems.push(`No list of models is stored: ${thrown.message}`);
  }
}

interface ListContext {
  readonly search: string | null;
  readonly settings: ModelSettings;
}

async function listReport(
  provider: ConfiguredProvider,
  { models, askedAt, isCut, problem }: ProviderModels,
  { search, settings }: ListContext,
): Promise<ModelListReport> {
  const found = models.filter(({ id }) => matchesSearch(id, search)).toSorted(compareModels);
  const complete = found.map((model) => {
    const name = modelName({ provider: provider.name, id: model.id });
    return completeModel(provider, model, settings.catalogue?.get(name));
  });
  return {
    models: await Promise.all(complete),
    modelCount: models.length,
    isListComplete: !isCut,
    listedAt: askedAt === null ? null : new Date(askedAt).toISOString(),
    listProblem: problem,
  };
}

function matchesSearch(id: string, search: string | null): boolean {
  const text = id.toLowerCase();
  const words = search?.toLowerCase().split(/\s+/) ?? [];
  return words.every((word) => text.includes(word));
}

/** Sorts models that are loaded before the others, and then by id, with numbers by their value. */
function compareModels(a: ListedModel, b: ListedModel): number {
  const first = Number(b.loaded === true) - Number(a.loaded === true);
  return first === 0 ? a.id.localeCompare(b.id, 'en', { numeric: true }) : first;
}
