import { errorInfo, MusterError } from '../../base/errors.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { resolveFallbacks } from '../../model/selection/fallbacks.ts';
import type { ConfiguredProvider } from '../../model/providers/configured-provider.ts';
import { OFFLINE, type ModelSetup } from '../../model/selection/choose-model.ts';
import { resolveMainModel } from '../../model/selection/resolve-model.ts';
import { discoverModels } from '../../model/discover-models.ts';
import { modelName, TIERS, type Tier } from '../../protocol/model.ts';
import type { Environment } from '../../sys/env.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { readAccounts } from './accounts.ts';
import { modelSettings } from './settings.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';

/** A provider without its key. */
export interface ProviderReport {
  readonly name: string;
  readonly protocol: string;
  readonly baseUrl: string;
  /** The source of its settings. */
  readonly source: string;
  /** The variable that should hold its key and does not, or null if the provider can be used. */
  readonly missingKey: string | null;
  /** The reason why its key cannot be sent, without the key, or null. */
  readonly keyProblem: string | null;
  readonly tiers: Readonly<Record<string, string>>;
}

/**
 * The result of a model choice: a model with the steps of the choice, or the reason why there is none.
 */
interface ChoiceReport {
  /** `main`, a tier or `fallback`. There is one entry for each named fallback. */
  readonly wish: string;
  readonly model: string | null;
  readonly chain: readonly string[];
  readonly problem: string | null;
  /** True if the offline engine answers and no model is asked. */
  readonly offline: boolean;
}

export interface ModelsReport {
  readonly providers: readonly ProviderReport[];
  readonly choices: readonly ChoiceReport[];
  /** Sentences about variables of the environment that name a model only in part. */
  readonly problems: readonly string[];
}

export interface ModelsReportOptions {
  readonly environment: Environment;
  /** The state directory; absolute. */
  readonly directory: string;
}

/**
 * Reports the configured models for `models` and `doctor`. Local servers are asked. The report contains no key.
 * Throws UsageError for settings that contradict each other.
 */
export async function reportModels(
  loaded: LoadedConfig,
  options: ModelsReportOptions,
): Promise<ModelsReport> {
  return (await readModels(loaded, options)).report;
}

/** The configured models, with the parts that are needed to ask their providers. */
export interface ReadModels {
  readonly setup: ModelSetup;
  readonly fetch: HttpFetch;
  readonly report: ModelsReport;
}

/** Finds the configured models, and reports them. Throws UsageError for settings that contradict each other. */
export async function readModels(
  loaded: LoadedConfig,
  { environment: env, directory }: ModelsReportOptions,
): Promise<ReadModels> {
  const notices: string[] = [];
  const accounts = readAccounts(directory, (notice) => notices.push(notice));
  const fetch = createHttpFetch(env);
  const setup = await discoverModels(modelSettings(loaded), { env, fetch, accounts });
  const report = modelsReport(setup);
  return { setup, fetch, report: { ...report, problems: [...notices, ...report.problems] } };
}

function modelsReport(setup: ModelSetup): ModelsReport {
  return {
    providers: setup.providers.map(providerReport),
    choices: [
      choice('main', setup),
      ...TIERS.map((tier) => tierChoice(tier, setup)),
      ...fallbackChoices(setup),
    ],
    problems: setup.problems ?? [],
  };
}

/** Lists the fallbacks in their order. If one cannot be used, only its problem is listed. */
function fallbackChoices(setup: ModelSetup): readonly ChoiceReport[] {
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

/** Resolves a tier as the flag would, and leaves the flag out of the report. */
function tierChoice(tier: Tier, setup: ModelSetup): ChoiceReport {
  const found = choice(tier, { ...setup, settings: { ...setup.settings, flag: tier } });
  return {
    ...found,
    chain: found.chain.slice(1),
    problem: found.problem?.replace(/^--model: /, '') ?? null,
  };
}

function providerReport(provider: ConfiguredProvider): ProviderReport {
  const { name, protocol, baseUrl, source, missingKey = null, keyProblem = null, tiers } = provider;
  return { name, protocol, baseUrl, source, missingKey, keyProblem, tiers };
}

function choice(wish: string, setup: ModelSetup): ChoiceReport {
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
