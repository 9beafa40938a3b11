import { MusterError } from '../../base/errors.ts';
import { TIER_ALIASES, TIERS, type ResolvedModel, type Tier } from '../../protocol/model.ts';
import { chooseAutoTier, type AutoAgent } from './auto-tier.ts';
import { VENDORS } from '../providers/vendors.ts';
import type { ModelSettings } from '../model-settings.ts';
import { hasUsableKey } from '../providers/provider-key.ts';
import { isVendor, findVendorByModelId, type ConfiguredProvider } from '../providers/providers.ts';

/** What models can be chosen from: found once, then everything here is pure. */
export interface ModelSetup {
  readonly settings: ModelSettings;
  /** In order of preference. */
  readonly providers: readonly ConfiguredProvider[];
  /** Sentences about variables of the environment that name a model only in part. Default: none. */
  readonly problems?: readonly string[];
}

/** Who is to be served: `auto` looks at both. */
export interface ModelUser {
  readonly agent: AutoAgent;
  readonly prompt: string;
}

export const OFFLINE = 'offline';

/** What a model may be named by beside its own name, where nothing else is said. */
const MODEL_WORDS: readonly string[] = ['inherit', 'auto', ...TIERS, OFFLINE];

/** A model without the wish that led to it. */
export interface ModelChoice {
  readonly provider: string;
  readonly id: string;
  readonly tier?: Tier;
  readonly steps: readonly string[];
}

export function invalidModel(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}

/** One wish, in any of its forms. The error says what is valid, not where the wish stood. */
export function chooseModel(
  wish: string,
  setup: ModelSetup,
  user: ModelUser,
  parent?: ResolvedModel,
): ModelChoice | MusterError {
  const word = wish.trim().toLowerCase();
  if (word === 'inherit') {
    if (parent === undefined) return chooseTier('balanced', setup);
    const { provider, id, tier } = parent;
    const steps = [`parent: ${provider}/${id}`];
    return { provider, id, ...(tier === undefined ? {} : { tier }), steps };
  }
  if (word === 'auto') {
    const { tier, because } = chooseAutoTier(user.agent, user.prompt);
    return prependStep(`auto: ${tier}, since ${because}`, chooseTier(tier, setup));
  }
  if (word === OFFLINE) return { provider: OFFLINE, id: OFFLINE, steps: [] };
  return chooseTierOrModel(wish, setup);
}

/** A tier, or a model by its name. */
export function chooseTierOrModel(
  wish: string,
  setup: ModelSetup,
  words: readonly string[] = MODEL_WORDS,
): ModelChoice | MusterError {
  const word = wish.trim().toLowerCase();
  const tier = Object.hasOwn(TIER_ALIASES, word) ? TIER_ALIASES[word] : undefined;
  return tier === undefined ? chooseNamedModel(wish.trim(), setup, words) : chooseTier(tier, setup);
}

export function prependStep(
  step: string,
  choice: ModelChoice | MusterError,
): ModelChoice | MusterError {
  return choice instanceof MusterError ? choice : { ...choice, steps: [step, ...choice.steps] };
}

/**
 * A tier: what the configuration says, then the model that the environment names for it, then the
 * default of the provider that serves the main agent. Unset, it falls back towards balanced, and
 * balanced to the main agent's own model.
 */
function chooseTier(tier: Tier, setup: ModelSetup): ModelChoice | MusterError {
  const base = baseProvider(setup);
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
  const server = namedByEnvironment(tier, base, setup) ?? base;
  const id = server.tiers[tier];
  if (id !== undefined) {
    const choice = reach(server, id);
    if (choice instanceof MusterError) return choice;
    return { ...choice, tier, steps: [`${tier}: ${server.name} (${server.source})`] };
  }
  if (tier !== 'balanced') return prependStep(`${tier}: not set`, chooseTier('balanced', setup));
  return prependStep('balanced: not set', mainModel(setup, base));
}

/** The wish for the main model, where it names a model and not a tier. */
function namedMain(setup: ModelSetup): string | null {
  const wish = setup.settings.flag ?? setup.settings.default;
  if (wish === undefined) return null;
  const word = wish.trim().toLowerCase();
  return word === 'auto' || word === 'inherit' || Object.hasOwn(TIER_ALIASES, word) ? null : wish;
}

/** `LLM_*` and `LIGHT_LLM_*`: two providers that are one setup. */
function isLlm({ name }: ConfiguredProvider): boolean {
  return name === 'llm' || name === 'light_llm';
}

/**
 * What `LLM_*` or `LIGHT_LLM_*` says of a tier, unless something that goes before it, the model
 * named for the main agent or the configuration, has led to another provider.
 */
function namedByEnvironment(
  tier: Tier,
  base: ConfiguredProvider,
  setup: ModelSetup,
): ConfiguredProvider | undefined {
  const named = setup.providers.find((one) => isLlm(one) && one.tiers[tier] !== undefined);
  if (named === undefined || isLlm(base)) return named;
  const goesBefore = setup.providers.indexOf(named) < setup.providers.indexOf(base);
  return goesBefore && namedMain(setup) === null ? named : undefined;
}

/** The provider whose own models fill the tiers. */
function baseProvider(setup: ModelSetup): ConfiguredProvider | typeof OFFLINE | MusterError {
  const named = namedMain(setup) ?? setup.settings.balanced;
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

/** The balanced tier of a provider that has none: the main model, or what there is. */
function mainModel(setup: ModelSetup, base: ConfiguredProvider): ModelChoice | MusterError {
  const named = namedMain(setup);
  if (named !== null) return chooseNamedModel(named, setup);
  const any = base.tiers.fast ?? base.tiers.powerful ?? base.models?.[0];
  if (any !== undefined) return reach(base, any);
  return invalidModel(
    `${base.name} (${base.source}) is configured, but no model of it is known: name one with --model ${base.name}/MODEL or [models] default`,
  );
}

/**
 * `provider/model`, or an id that exactly one configured provider has. `words`: those that may stand here
 * instead, for messages.
 */
export function chooseNamedModel(
  wish: string,
  setup: ModelSetup,
  words: readonly string[] = MODEL_WORDS,
): ModelChoice | MusterError {
  const slash = wish.indexOf('/');
  const prefix = slash === -1 ? '' : wish.slice(0, slash);
  const server = setup.providers.find(({ name }) => name === prefix.toLowerCase());
  if (server !== undefined && wish.length > slash + 1) return reach(server, wish.slice(slash + 1));
  if (wish.toLowerCase() === OFFLINE) return { provider: OFFLINE, id: OFFLINE, steps: [] };
  const vendor = prefix.toLowerCase();
  if (isVendor(vendor)) return noKey(wish, VENDORS[vendor].keys);
  return chooseBare(wish, setup, words);
}

function chooseBare(
  id: string,
  setup: ModelSetup,
  words: readonly string[],
): ModelChoice | MusterError {
  const having = setup.providers.filter((one) => serves(one, id));
  const ready = having.filter(hasUsableKey);
  const [first, second] = ready.length > 0 ? ready : having;
  if (first !== undefined && second === undefined) return reach(first, id);
  if (first !== undefined) {
    const names = ready.map(({ name }) => `${name}/${id}`).join(', ');
    return invalidModel(`"${id}" is served by more than one provider: say which of ${names}`);
  }
  const vendor = findVendorByModelId(id);
  if (vendor !== null) return noKey(id, VENDORS[vendor].keys);
  // Whose models are not known is believed to have any, where there is nobody else.
  const [only, other] = setup.providers;
  if (only !== undefined && other === undefined && only.vendor === null && only.models === null) {
    return reach(only, id);
  }
  return invalidModel(`no configured provider has a model "${id}"; ${validValues(setup, words)}`);
}

function serves(server: ConfiguredProvider, id: string): boolean {
  if (server.models?.includes(id) === true) return true;
  if (Object.values(server.tiers).includes(id)) return true;
  return server.vendor !== null && VENDORS[server.vendor].ids.test(id) && !isLlm(server);
}

function reach(server: ConfiguredProvider, id: string): ModelChoice | MusterError {
  if (server.missingKey !== undefined) return noKey(`${server.name}/${id}`, [server.missingKey]);
  if (server.keyProblem !== undefined) return invalidModel(server.keyProblem);
  return { provider: server.name, id, steps: [`${server.name}/${id}`] };
}

function noKey(model: string, keys: readonly string[]): MusterError {
  return invalidModel(`"${model}" needs a key: set ${keys.join(' or ')} in the environment`);
}

/** For error messages: every form that a model can be named in here. */
function validValues(setup: ModelSetup, words: readonly string[]): string {
  const ready = setup.providers.filter(hasUsableKey);
  const own = ready.map((one) => `${one.name}/${Object.values(one.tiers)[0] ?? 'MODEL'}`);
  const named = words.filter((word) => word !== OFFLINE);
  const last = words.includes(OFFLINE) ? [OFFLINE] : [];
  return `valid are ${[...named, ...own, ...last].join(', ')}`;
}
