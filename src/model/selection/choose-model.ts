import { MusterError } from '../../base/errors.ts';
import { TIER_ALIASES, TIERS, type ResolvedModel, type Tier } from '../../protocol/model.ts';
import { chooseAutoTier, type AutoAgent } from './auto-tier.ts';
import { isPreset, PRESETS, type PresetName } from '../settings/presets.ts';
import type { ModelSettings } from '../settings/model-settings.ts';
import { findRetiredProvider } from '../settings/retired-providers.ts';
import { hasUsableKey } from '../providers/provider-key.ts';
import { describeMissingCloud } from '../providers/cloud-provider.ts';
import { type ConfiguredProvider } from '../providers/configured-provider.ts';
import { findVendorByModelId } from '../providers/providers.ts';

/** The settings and providers from which models are chosen. They are determined once, and choosing has no side effects. */
export interface ModelSetup {
  readonly settings: ModelSettings;
  /** The providers in order of preference. */
  readonly providers: readonly ConfiguredProvider[];
  /** Sentences about environment variables that have no effect, for error messages. Default: none. */
  readonly problems?: readonly string[];
}

/** The agent and prompt for which a model is chosen. Only `auto` depends on them. */
export interface ModelUser {
  readonly agent: AutoAgent;
  readonly prompt: string;
}

/** The name of the offline model, and of its provider. */
export const OFFLINE = 'offline';

/** The names that do not depend on the configured providers, for the list of valid names in messages. */
const GENERAL_NAMES: readonly string[] = ['inherit', 'auto', ...TIERS, OFFLINE];

/** A chosen model, with the steps that led to it. */
export interface ModelChoice {
  readonly provider: string;
  readonly id: string;
  readonly tier?: Tier;
  readonly steps: readonly string[];
}

/** A choice, or the reason why no model can be chosen. */
export type ChoiceResult = ModelChoice | MusterError;

/** Creates the error for a model that can't be used. */
export function createModelError(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}

/**
 * Chooses the model for a name in any form: `inherit`, `auto`, `offline`, a tier, or a model. The message of an error
 * lists the valid names; the caller adds the name of the wrong setting. `parent`: the model for `inherit`. Default: the
 * balanced model.
 */
export function chooseModel(
  requested: string,
  setup: ModelSetup,
  user: ModelUser,
  parent?: ResolvedModel,
): ChoiceResult {
  const name = requested.trim().toLowerCase();
  if (name === 'inherit') {
    if (parent === undefined) return chooseTier('balanced', setup);
    const { provider, id, tier } = parent;
    const steps = [`parent: ${provider}/${id}`];
    return { provider, id, ...(tier === undefined ? {} : { tier }), steps };
  }
  if (name === 'auto') {
    const { tier, reason } = chooseAutoTier(user.agent, user.prompt);
    return prependStep(`auto: ${tier}, since ${reason}`, chooseTier(tier, setup));
  }
  if (name === OFFLINE) return { provider: OFFLINE, id: OFFLINE, steps: [] };
  return chooseTierOrModel(requested, setup);
}

/** Chooses a model by the name of a tier or of a model. */
export function chooseTierOrModel(
  requested: string,
  setup: ModelSetup,
  validNames: readonly string[] = GENERAL_NAMES,
): ChoiceResult {
  const name = requested.trim().toLowerCase();
  const tier = Object.hasOwn(TIER_ALIASES, name) ? TIER_ALIASES[name] : undefined;
  return tier === undefined
    ? chooseNamedModel(requested.trim(), setup, validNames)
    : chooseTier(tier, setup);
}

/** Adds a step before the steps of a choice. Returns an error unchanged. */
export function prependStep(step: string, choice: ChoiceResult): ChoiceResult {
  return choice instanceof MusterError ? choice : { ...choice, steps: [step, ...choice.steps] };
}

/**
 * Chooses the model of a tier: the configured model, then the model that `LLM_*` or `LIGHT_LLM_*` names, then the default
 * of the main agent's provider. If the tier has none of these, the balanced model is used, and for the tier balanced the
 * main agent's model.
 */
function chooseTier(tier: Tier, setup: ModelSetup): ChoiceResult {
  const main = findMainProvider(setup);
  if (main instanceof MusterError) return main;
  if (main === OFFLINE)
    return { provider: OFFLINE, id: OFFLINE, tier, steps: [`${tier}: ${OFFLINE}`] };
  const configured = setup.settings[tier];
  if (configured !== undefined) {
    const choice = chooseNamedModel(configured, setup, [OFFLINE]);
    if (choice instanceof MusterError) {
      return new MusterError(choice.code, `models.${tier}: ${choice.message}`);
    }
    return { ...choice, tier, steps: [`${tier}: models.${tier}`, ...choice.steps] };
  }
  const provider = findTierInEnvironment(tier, main, setup) ?? main;
  const id = provider.tiers[tier];
  if (id !== undefined) {
    const choice = chooseFromProvider(provider, id);
    if (choice instanceof MusterError) return choice;
    return { ...choice, tier, steps: [`${tier}: ${provider.name} (${provider.source})`] };
  }
  if (tier !== 'balanced') return prependStep(`${tier}: not set`, chooseTier('balanced', setup));
  return prependStep('balanced: not set', chooseMainModel(setup, main));
}

/** Returns the name of the main model if the settings name a model and not a tier. */
function findNamedMainModel(setup: ModelSetup): string | null {
  const requested = setup.settings.flag ?? setup.settings.default;
  if (requested === undefined) return null;
  const name = requested.trim().toLowerCase();
  return name === 'auto' || name === 'inherit' || Object.hasOwn(TIER_ALIASES, name)
    ? null
    : requested;
}

/** Returns true for the two providers from `LLM_*` and `LIGHT_LLM_*`, which are configured together. */
function isLlmProvider({ name }: ConfiguredProvider): boolean {
  return name === 'llm' || name === 'light_llm';
}

/**
 * Finds the provider from `LLM_*` or `LIGHT_LLM_*` that has a model for a tier. Returns undefined if the main provider
 * follows from a setting with a higher priority: a named main model, or the configuration. `main`: the main provider.
 */
function findTierInEnvironment(
  tier: Tier,
  main: ConfiguredProvider,
  setup: ModelSetup,
): ConfiguredProvider | undefined {
  const { providers } = setup;
  const provider = providers.find((each) => isLlmProvider(each) && each.tiers[tier] !== undefined);
  if (provider === undefined || isLlmProvider(main)) return provider;
  const isPreferred = providers.indexOf(provider) < providers.indexOf(main);
  return isPreferred && findNamedMainModel(setup) === null ? provider : undefined;
}

/** Finds the provider whose default models are used for the tiers. */
function findMainProvider(setup: ModelSetup): ConfiguredProvider | typeof OFFLINE | MusterError {
  const named = findNamedMainModel(setup) ?? setup.settings.balanced;
  if (named !== undefined && named.trim().toLowerCase() === OFFLINE) return OFFLINE;
  if (named !== undefined) {
    const choice = chooseNamedModel(named, setup);
    if (choice instanceof MusterError) return choice;
    const provider = setup.providers.find(({ name }) => name === choice.provider);
    if (provider !== undefined) return provider;
  }
  const ready = setup.providers.filter(hasUsableKey);
  const known = ready.filter((each) => each.models !== null || Object.keys(each.tiers).length > 0);
  const [first] = [...known.filter(({ name }) => name !== 'light_llm'), ...known, ...ready];
  return first ?? setup.providers[0] ?? OFFLINE;
}

/** Chooses the model for the tier balanced if the provider has none: the named main model, or any model of the provider. */
function chooseMainModel(setup: ModelSetup, main: ConfiguredProvider): ChoiceResult {
  const named = findNamedMainModel(setup);
  if (named !== null) return chooseNamedModel(named, setup);
  const id = main.tiers.fast ?? main.tiers.powerful ?? main.models?.[0];
  if (id !== undefined) return chooseFromProvider(main, id);
  const because = main.listProblem === undefined ? '' : ` (${main.listProblem})`;
  return createModelError(
    `${main.name} (${main.source}) is configured, but none of its models is known${because}: name a model with --model ${main.name}/MODEL or [models] default`,
  );
}

/**
 * Chooses a model by `provider/id`, or by an id that exactly one configured provider serves. `validNames`: further valid
 * names, for messages.
 */
export function chooseNamedModel(
  requested: string,
  setup: ModelSetup,
  validNames: readonly string[] = GENERAL_NAMES,
): ChoiceResult {
  const slash = requested.indexOf('/');
  const prefix = slash === -1 ? '' : requested.slice(0, slash);
  const provider = setup.providers.find(({ name }) => name === prefix.toLowerCase());
  if (provider !== undefined && requested.length > slash + 1)
    return chooseFromProvider(provider, requested.slice(slash + 1));
  if (requested.toLowerCase() === OFFLINE) return { provider: OFFLINE, id: OFFLINE, steps: [] };
  const known = prefix.toLowerCase();
  if (isPreset(known)) return missingProviderError(requested, known);
  const missingCloud = describeMissingCloud(known);
  if (missingCloud !== null) return createModelError(`"${requested}" ${missingCloud}`);
  const retired = findRetiredProvider(known);
  if (retired !== undefined) return createModelError(`"${requested}": ${retired.notice}`);
  return chooseById(requested, setup, validNames);
}

function chooseById(id: string, setup: ModelSetup, validNames: readonly string[]): ChoiceResult {
  const serving = setup.providers.filter((provider) => canServe(provider, id));
  const ready = serving.filter(hasUsableKey);
  const [first, second] = ready.length > 0 ? ready : serving;
  if (first !== undefined && second === undefined) return chooseFromProvider(first, id);
  if (first !== undefined) {
    const names = ready.map(({ name }) => `${name}/${id}`).join(', ');
    return createModelError(`"${id}" is served by more than one provider: choose one of ${names}`);
  }
  const name = id.toLowerCase();
  if (setup.providers.some((provider) => provider.name === name)) {
    return createModelError(
      `"${id}" is a provider: name one of its models, as in ${name}/MODEL; "muster models ${name}" lists them`,
    );
  }
  if (isPreset(name)) return missingProviderError(id, name);
  const vendor = findVendorByModelId(id);
  if (vendor !== null) return missingProviderError(id, vendor);
  // If the models of the only provider are not known, it may have this one.
  const [only, other] = setup.providers;
  if (only !== undefined && other === undefined && only.vendor === null && only.models === null) {
    return chooseFromProvider(only, id);
  }
  return createModelError(
    `no configured provider has a model "${id}"; ${describeValidNames(setup, validNames)}`,
  );
}

function canServe(provider: ConfiguredProvider, id: string): boolean {
  if (provider.models?.includes(id) === true) return true;
  if (Object.values(provider.tiers).includes(id)) return true;
  return (
    provider.vendor !== null &&
    PRESETS[provider.vendor].ids?.test(id) === true &&
    !isLlmProvider(provider)
  );
}

function chooseFromProvider(server: ConfiguredProvider, id: string): ChoiceResult {
  if (server.missingKey !== undefined)
    return createMissingKeyError(`${server.name}/${id}`, [server.missingKey], server.name);
  if (server.keyProblem !== undefined) return createModelError(server.keyProblem);
  return { provider: server.name, id, steps: [`${server.name}/${id}`] };
}

/** Creates the error for a model of a known provider that is not configured. */
function missingProviderError(model: string, preset: PresetName): MusterError {
  const { keys, isLocal, title, baseUrl } = PRESETS[preset];
  if (isLocal !== true) return createMissingKeyError(model, keys, preset);
  return createModelError(
    `"${model}" needs a server: add [models.providers.${preset}] to the configuration, with base_url if ${title} is not at ${baseUrl}`,
  );
}

function createMissingKeyError(
  model: string,
  variables: readonly string[],
  provider: string,
): MusterError {
  const signIn = isPreset(provider) ? `, or run "muster login ${provider}"` : '';
  return createModelError(
    `"${model}" needs a key: set ${variables.join(' or ')} in the environment${signIn}`,
  );
}

/** Lists the valid names of models for error messages. The offline model comes last. */
function describeValidNames(setup: ModelSetup, general: readonly string[]): string {
  const ready = setup.providers.filter(hasUsableKey);
  const specific = ready.map(({ name, tiers }) => `${name}/${Object.values(tiers)[0] ?? 'MODEL'}`);
  const named = general.filter((name) => name !== OFFLINE);
  const last = general.includes(OFFLINE) ? [OFFLINE] : [];
  return `valid are ${[...named, ...specific, ...last].join(', ')}`;
}
