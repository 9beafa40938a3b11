import { errorInfo, MusterError } from '../../base/errors.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { resolveFallbacks } from '../../model/selection/fallbacks.ts';
import type { ConfiguredProvider } from '../../model/providers/configured-provider.ts';
import { OFFLINE, type ModelSetup } from '../../model/selection/choose-model.ts';
import { resolveMainModel } from '../../model/selection/resolve-model.ts';
import { discoverModels } from '../../model/discover-models.ts';
import { modelName, TIERS, type Tier } from '../../protocol/model.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { readAccounts } from './accounts.ts';
import { createModelSettings } from './settings.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import { stateDirectory, type StateOptions } from '../../trust/state-directory.ts';

/** A provider without its key. */
export interface ProviderReport {
  readonly name: string;
  readonly protocol: string;
  readonly baseUrl: string;
  /** The source of its settings. */
  readonly source: string;
  /** The environment variable that should contain the API key but is not set, or null if the provider can be used. */
  readonly missingKey: string | null;
  /** The reason why the API key cannot be sent, or null. Does not contain the key. */
  readonly keyProblem: string | null;
  readonly tiers: Readonly<Record<string, string>>;
  /** The source of the credentials of a cloud. Default: the provider is no cloud. */
  readonly credentials?: string;
}

/**
 * The result of a model choice: a model with the steps of the choice, or the reason why there is none.
 */
interface ChoiceReport {
  /** The requested choice: `main`, a tier or `fallback`. Each configured fallback has its own entry. */
  readonly wish: string;
  readonly model: string | null;
  readonly chain: readonly string[];
  readonly problem: string | null;
  /** True if the offline engine answers instead of a model. */
  readonly offline: boolean;
}

export interface ModelsReport {
  readonly providers: readonly ProviderReport[];
  readonly choices: readonly ChoiceReport[];
  /** Sentences about environment variables that configure a model incompletely. */
  readonly problems: readonly string[];
}

/**
 * Reports the configured models for `models` and `doctor`. Asks local servers for their models. The report contains
 * no API key. Throws UsageError for settings that contradict each other.
 */
export async function reportModels(
  loaded: LoadedConfig,
  state: StateOptions,
): Promise<ModelsReport> {
  return (await readModels(loaded, state)).report;
}

/** The configured models, with the parts that are needed to ask their providers. */
export interface ReadModels {
  readonly setup: ModelSetup;
  readonly fetch: HttpFetch;
  readonly report: ModelsReport;
}

/** Finds the configured models, and reports them. Throws UsageError for settings that contradict each other. */
export async function readModels(loaded: LoadedConfig, state: StateOptions): Promise<ReadModels> {
  const notices: string[] = [];
  const env = state.environment;
  const addNotice = (notice: string): void => void notices.push(notice);
  const accounts = readAccounts(stateDirectory(state), addNotice, state);
  const fetch = createHttpFetch(env);
  const setup = await discoverModels(createModelSettings(loaded), { env, fetch, accounts });
  const report = createModelsReport(setup);
  return { setup, fetch, report: { ...report, problems: [...notices, ...report.problems] } };
}

function createModelsReport(setup: ModelSetup): ModelsReport {
  return {
    providers: setup.providers.map(reportProvider),
    choices: [
      reportChoice('main', setup),
      ...TIERS.map((tier) => reportTier(tier, setup)),
      ...reportFallbacks(setup),
    ],
    problems: setup.problems ?? [],
  };
}

/** Reports the fallback models in order. If a fallback cannot be used, reports only its problem. */
function reportFallbacks(setup: ModelSetup): readonly ChoiceReport[] {
  const wish = 'fallback';
  try {
    return resolveFallbacks(setup).map(({ model }) => {
      const { chain } = model;
      return { wish, model: modelName(model), chain, problem: null, offline: false };
    });
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return [{ wish, model: null, chain: [], problem: errorInfo(error).message, offline: false }];
  }
}

/** Resolves a tier as if it were the value of the flag `--model`, and removes the flag from the report. */
function reportTier(tier: Tier, setup: ModelSetup): ChoiceReport {
  const found = reportChoice(tier, { ...setup, settings: { ...setup.settings, flag: tier } });
  return {
    ...found,
    chain: found.chain.slice(1),
    problem: found.problem?.replace(/^--model: /, '') ?? null,
  };
}

function reportProvider(provider: ConfiguredProvider): ProviderReport {
  const { name, protocol, baseUrl, source, missingKey = null, keyProblem = null, tiers } = provider;
  const { cloud, keyFrom } = provider;
  const credentials = cloud === undefined ? {} : { credentials: keyFrom ?? 'none' };
  return { name, protocol, baseUrl, source, missingKey, keyProblem, tiers, ...credentials };
}

function reportChoice(wish: string, setup: ModelSetup): ChoiceReport {
  try {
    const model = resolveMainModel(setup, { agent: MAIN_AGENT, prompt: '' });
    return {
      wish,
      model: modelName(model),
      chain: model.chain,
      problem: model.warning ?? null,
      offline: model.provider === OFFLINE,
    };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return { wish, model: null, chain: [], problem: errorInfo(error).message, offline: false };
  }
}
