import { MusterError } from '../../base/errors.ts';
import { TIER_ALIASES, TIERS, type ResolvedModel, type Tier } from '../../protocol/model.ts';
import { chooseAutoTier, type AutoAgent } from './auto-tier.ts';
import { isPreset, PRESETS, type PresetName } from '../settings/presets.ts';
import type { ModelSettings } from '../settings/model-settings.ts';
import { findRetiredProvider } from '../settings/retired-providers.ts';
import { hasUsableKey } from '../providers/provider-key.ts';
import { type ConfiguredProvider } from '../providers/configured-provider.ts';
import { findVendorByModelId } from '../providers/providers.ts';

/** The settings and providers from which models are chosen. They are found once; choosing is pure. */
export interface ModelSetup {
  readonly settings: ModelSettings;
  /** The providers in order of preference. */
  readonly providers: readonly ConfiguredProvider[];
  /** Sentences about environment variables that name a model incompletely. Default: none. */
  readonly problems?: readonly string[];
}

/** The agent and prompt for which a model is chosen. `auto` uses both. */
export interface ModelUser {
  readonly agent: AutoAgent;
  readonly prompt: string;
}

/** The name of the offline model, and of its provider. */
export const OFFLINE = 'offline';

/** The general names of models, which are valid wherever no other list is given. */
const GENERAL_NAMES: readonly string[] = ['inherit', 'auto', ...TIERS, OFFLINE];

/** A chosen model, with the steps of the choice. */
export interface ModelChoice {
  readonly provider: string;
  readonly id: string;
  readonly tier?: Tier;
  readonly steps: readonly string[];
}

/** A choice, or the reason why there is none. */
export type ChoiceResult = ModelChoice | MusterError;

/** Creates the error for a model that can't be used. */
export function invalidModel(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}

/**
 * Chooses the model for a name in any form: `inherit`, `auto`, `offline`, a tier, or a model. Errors say what is
 * valid; the caller adds which setting is wrong. `parent`: the model that `inherit` means.
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

/** Adds a step before those of a choice. Returns an error unchanged. */
export function prependStep(step: string, choice: ChoiceResult): ChoiceResult {
  return choice instanceof MusterError ? choice : { ...choice, steps: [step, ...choice.steps] };
}

/**
 * Chooses the model of a tier: the configured one, then the one that the environment names, then the default of
 * the main agent's provider. An unset tier falls back to balanced, and balanced to the main agent's model.
 */
function chooseTier(tier: Tier, setup: ModelSetup): ChoiceResult {
  const base = findMainProvider(setup);
  if (base instanceof MusterError) return base;
  if (base === OFFLINE)
    return { provider: OFFLINE, id: OFFLINE, tier, steps: [`${tier}: ${OFFLINE}`] };
  const configured = setup.settings[tier];
  if (configured !== undefined) {
    const choice = chooseNamedModel(configured, setup, [OFFLINE]);
    if (choice instanceof MusterError) {
      return new MusterError(choice.code, `models.${tier}: ${choice.message}`);
    }
    return { ...choice, tier, steps: [`${tier}: models.${tier}`, ...choice.steps] };
  }
  const server = findTierInEnvironment(tier, base, setup) ?? base;
  const id = server.tiers[tier];
  if (id !== undefined) {
    const choice = chooseFrom(server, id);
    if (choice instanceof MusterError) return choice;
    return { ...choice, tier, steps: [`${tier}: ${server.name} (${server.source})`] };
  }
  if (tier !== 'balanced') return prependStep(`${tier}: not set`, chooseTier('balanced', setup));
  return prependStep('balanced: not set', chooseMainModel(setup, base));
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

/** Returns true for the two providers from `LLM_*` and `LIGHT_LLM_*`, which belong together. */
function isLlmProvider({ name }: ConfiguredProvider): boolean {
  return name === 'llm' || name === 'light_llm';
}

/**
 * Finds the provider from `LLM_*` or `LIGHT_LLM_*` that names a model for a tier. Returns undefined if a setting
 * of higher priority, the named main model or the configuration, has led to another provider.
 */
function findTierInEnvironment(
  tier: Tier,
  base: ConfiguredProvider,
  setup: ModelSetup,
): ConfiguredProvider | undefined {
  const named = setup.providers.find((one) => isLlmProvider(one) && one.tiers[tier] !== undefined);
  if (named === undefined || isLlmProvider(base)) return named;
  const goesBefore = setup.providers.indexOf(named) < setup.providers.indexOf(base);
  return goesBefore && findNamedMainModel(setup) === null ? named : undefined;
}

/** Finds the provider whose default models are used for the tiers. */
function findMainProvider(setup: ModelSetup): ConfiguredProvider | typeof OFFLINE | MusterError {
  const named = findNamedMainModel(setup) ?? setup.settings.balanced;
  if (named !== undefined && named.trim().toLowerCase() === OFFLINE) return OFFLINE;
  if (named !== undefined) {
    const choice = chooseNamedModel(named, setup);
    if (choice instanceof MusterError) return choice;
    const server = setup.providers.find(({ name }) => name === choice.provider);
    if (server !== undefined) return server;
  }
  const ready = setup.providers.filter(hasUsableKey);
  const known = ready.filter((one) => one.models !== null || Object.keys(one.tiers).length > 0);
  const [first] = [...known.filter(({ name }) => name !== 'light_llm'), ...known, ...ready];
  return first ?? setup.providers[0] ?? OFFLINE;
}

/** Chooses the balanced model of a provider without one: the main model, or any model of the provider. */
function chooseMainModel(setup: ModelSetup, base: ConfiguredProvider): ChoiceResult {
  const named = findNamedMainModel(setup);
  if (named !== null) return chooseNamedModel(named, setup);
  const any = base.tiers.fast ?? base.tiers.powerful ?? base.models?.[0];
  if (any !== undefined) return chooseFrom(base, any);
  return invalidModel(
    `${base.name} (${base.source}) is configured, but no model of it is known: name one with --model ${base.name}/MODEL or [models] default`,
  );
}

/**
 * Chooses a model by `provider/model`, or by an id that exactly one configured provider has. `validNames`: the
 * general names that are valid too, for messages.
 */
export function chooseNamedModel(
  requested: string,
  setup: ModelSetup,
  validNames: readonly string[] = GENERAL_NAMES,
): ChoiceResult {
  const slash = requested.indexOf('/');
  const prefix = slash === -1 ? '' : requested.slice(0, slash);
  const server = setup.providers.find(({ name }) => name === prefix.toLowerCase());
  if (server !== undefined && requested.length > slash + 1)
    return chooseFrom(server, requested.slice(slash + 1));
  if (requested.toLowerCase() === OFFLINE) return { provider: OFFLINE, id: OFFLINE, steps: [] };
  const known = prefix.toLowerCase();
  if (isPreset(known)) return missingProviderError(requested, known);
  const retired = findRetiredProvider(known);
  if (retired !== undefined) return invalidModel(`"${requested}": ${retired.notice}`);
  return chooseById(requested, setup, validNames);
}

function chooseById(id: string, setup: ModelSetup, validNames: readonly string[]): ChoiceResult {
  const serving = setup.providers.filter((one) => serves(one, id));
  const ready = serving.filter(hasUsableKey);
  const [first, second] = ready.length > 0 ? ready : serving;
  if (first !== undefined && second === undefined) return chooseFrom(first, id);
  if (first !== undefined) {
    const names = ready.map(({ name }) => `${name}/${id}`).join(', ');
    return invalidModel(`"${id}" is served by more than one provider: choose one of ${names}`);
  }
  const vendor = findVendorByModelId(id);
  if (vendor !== null) return missingProviderError(id, vendor);
  // If the models of the only provider are not known, it may have this one.
  const [only, other] = setup.providers;
  if (only !== undefined && other === undefined && only.vendor === null && only.models === null) {
    return chooseFrom(only, id);
  }
  return invalidModel(
    `no configured provider has a model "${id}"; ${describeValidNames(setup, validNames)}`,
  );
}

function serves(server: ConfiguredProvider, id: string): boolean {
  if (server.models?.includes(id) === true) return true;
  if (Object.values(server.tiers).includes(id)) return true;
  return (
    server.vendor !== null &&
    PRESETS[server.vendor].ids?.test(id) === true &&
    !isLlmProvider(server)
  );
}

function chooseFrom(server: ConfiguredProvider, id: string): ChoiceResult {
  if (server.missingKey !== undefined)
    return missingKeyError(`${server.name}/${id}`, [server.missingKey], server.name);
  if (server.keyProblem !== undefined) return invalidModel(server.keyProblem);
  return { provider: server.name, id, steps: [`${server.name}/${id}`] };
}

/** Creates the error for a model of a known provider that is not configured. */
function missingProviderError(model: string, preset: PresetName): MusterError {
  const { keys, isLocal, title, baseUrl } = PRESETS[preset];
  if (isLocal !== true) return missingKeyError(model, keys, preset);
  return invalidModel(
    `"${model}" needs a server: add [models.providers.${preset}] to the configuration, with base_url if ${title} is not at ${baseUrl}`,
  );
}

function missingKeyError(model: string, keys: readonly string[], provider: string): MusterError {
  const signIn = isPreset(provider) ? `, or run "muster login ${provider}"` : '';
  return invalidModel(
    `"${model}" needs a key: set ${keys.join(' or ')} in the environment${signIn}`,
  );
}

/** Lists the valid names of models for error messages. */
function describeValidNames(setup: ModelSetup, general: readonly string[]): string {
  const ready = setup.providers.filter(hasUsableKey);
  const specific = ready.map((one) => `${one.name}/${Object.values(one.tiers)[0] ?? 'MODEL'}`);
  const named = general.filter((name) => name !== OFFLINE);
  const last = general.includes(OFFLINE) ? [OFFLINE] : [];
  return `valid are ${[...named, ...specific, ...last].join(', ')}`;
}
