import { errorInfo, MusterError } from '../../base/errors.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { resolveFallbacks } from '../../model/fallbacks.ts';
import type { ConfiguredProvider } from '../../model/providers.ts';
import { OFFLINE, type ModelSetup } from '../../model/choose.ts';
import { resolveMain } from '../../model/resolve.ts';
import { discoverModels } from '../../model/setup.ts';
import { modelName, TIERS, type Tier } from '../../protocol/model.ts';
import type { Environment } from '../../sys/env.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { modelSettings } from './settings.ts';
import type { LoadedConfig } from '../../config/load.ts';

/** A provider without anything of its key but the name of the variable that lacks it. */
interface ProviderReport {
  readonly name: string;
  readonly protocol: string;
  readonly baseUrl: string;
  /** Where it was found. */
  readonly source: string;
  /** The variable that should hold its key and does not; null: it can be used. */
  readonly missingKey: string | null;
  /** Why its key can't be sent, without the key; null: nothing is wrong with it. */
  readonly keyProblem: string | null;
  readonly tiers: Readonly<Record<string, string>>;
}

/** What a wish for a model comes to: a model with the way it was chosen, or why there is none. */
interface ChoiceReport {
  /** `main`, a tier, or `fallback`: of those there are as many as are named. */
  readonly wish: string;
  readonly model: string | null;
  readonly chain: readonly string[];
  readonly problem: string | null;
  /** Answered by the retrieval engine: no model is asked. */
  readonly offline: boolean;
}

export interface ModelsReport {
  readonly providers: readonly ProviderReport[];
  readonly choices: readonly ChoiceReport[];
  /** Sentences about variables of the environment that name a model only in part. */
  readonly problems: readonly string[];
}

/**
 * What `models` and `doctor` tell of the models that are configured; local servers are asked. Holds no
 * key. Throws UsageError for settings that can't be meant.
 */
export async function configuredModels(
  loaded: LoadedConfig,
  environment: Environment,
): Promise<ModelsReport> {
  const fetch = createHttpFetch(environment);
  return modelsReport(await discoverModels(modelSettings(loaded), environment, fetch));
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

/** In their order; of those of which one can't be used, that one alone. */
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

/** A tier is asked for as the flag would; that no flag did is left out of what is told. */
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
    const model = resolveMain(setup, { agent: MAIN_AGENT, prompt: '' });
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
