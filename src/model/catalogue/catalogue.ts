import type { MatchLogic } from '@pydantic/genai-prices';
import type { ListedModel } from '../../protocol/listed-model.ts';
import type { ModelDetails, ModelPrice, TokenPrices } from '../../protocol/model.ts';
import { findSearchFee } from './search-fees.ts';
import { DEFAULT_LIMIT, findOutputLimit } from './output-limits.ts';
import { CLOUDS, type CloudKind } from '../settings/clouds.ts';
import { type ModelOverride, OVERRIDE_SOURCE } from '../settings/model-settings.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import type { Vendor } from '../providers/vendors.ts';

/** The package with the bundled data. `asOf`: the day on which this version was built. */
export const CATALOGUE = { name: '@pydantic/genai-prices', version: '0.1.8', asOf: '2026-09-23' };

/** The details of an unknown model. */
export const UNKNOWN_DETAILS: ModelDetails = { contextWindow: null, maxOutput: null, price: null };

type CatalogueProvider = Pick<
  ConfiguredProvider,
  'protocol' | 'vendor' | 'baseUrl' | 'isPrivate' | 'cloud'
>;

/** A model in the list of its provider. */
export interface ListedDetails {
  readonly model: ListedModel;
  /** The name of the list, as the source of a price. */
  readonly source: string;
  /** The day on which the provider was asked, `YYYY-MM-DD`. */
  readonly askedOn: string;
}

/**
 * Loads the details of a provider's model: as configured, or else from the bundled catalogue, or else from the list of
 * the provider. The first call loads the catalogue, which takes about 40 ms, so it should be made while an answer is on
 * its way. Never rejects for an unknown model, the details of which are null.
 *
 * @param findListed finds the model in the list of the provider; called only for details that nothing else states
 */
export async function loadModelDetails(
  provider: CatalogueProvider,
  id: string,
  override: ModelOverride = {},
  findListed?: () => Promise<ListedDetails | null>,
): Promise<ModelDetails> {
  const known = await loadCatalogueDetails(provider, id, override);
  const { contextWindow, maxOutput, price } = known;
  if (contextWindow !== null && maxOutput !== null && price !== null) return known;
  const listed = (await findListed?.()) ?? null;
  return listed === null ? known : addListedDetails(known, listed);
}

function addListedDetails(
  known: ModelDetails,
  { model, source, askedOn }: ListedDetails,
): ModelDetails {
  const { contextWindow, outputLimit, price } = model;
  // More is hardly ever used, and a budget would reserve it for each request.
  const maxOutput = outputLimit === null ? null : Math.min(outputLimit, DEFAULT_LIMIT);
  return {
    ...known,
    contextWindow: known.contextWindow ?? contextWindow,
    maxOutput: known.maxOutput ?? maxOutput,
    price: known.price ?? (price === null ? null : { ...price, source, asOf: askedOn }),
  };
}

async function loadCatalogueDetails(
  provider: CatalogueProvider,
  id: string,
  override: ModelOverride,
): Promise<ModelDetails> {
  const { vendor, baseUrl, isPrivate, cloud } = provider;
  const maxOutput = override.outputLimit ?? findOutputLimit(provider, id);
  const contextWindow = override.contextWindow ?? null;
  const price: ModelPrice | null =
    override.price === undefined
      ? null
      : { ...override.price, source: OVERRIDE_SOURCE, asOf: null };
  const unknown = { contextWindow, maxOutput, price };
  // A model on the user's own machines has no known price.
  if (vendor === null && isPrivate && cloud === undefined) return unknown;
  const { calcPrice } = await import('@pydantic/genai-prices');
  const providerId = cloud === undefined ? vendor : CLOUDS[cloud.kind].catalogue;
  const selector = providerId === null ? { providerApiUrl: baseUrl } : { providerId };
  const match = calcPrice({ input_tokens: 0, output_tokens: 0 }, id, selector);
  if (match === null || isOtherModel(id, match.model.id, cloud?.kind)) return unknown;
  const known = price ?? toPrice(match.model_price);
  const search = findSearchFee(vendor, id);
  return {
    contextWindow: contextWindow ?? match.model.context_window ?? null,
    maxOutput,
    price: known === null || search === undefined ? known : { ...known, search },
    cacheMinimum: findCacheMinimum(id),
  };
}

/**
 * Returns true if the catalogue's id is that of another model. On Bedrock, an id begins with a region and ends with a
 * version, and the same model has several.
 */
function isOtherModel(id: string, known: string, cloud: CloudKind | undefined): boolean {
  if (cloud !== 'bedrock') return isOtherVersion(id, known);
  return isOtherVersion(toPlainBedrockId(id), toPlainBedrockId(known));
}

/** Removes the address, the region and the version from the id of a model on Bedrock. */
function toPlainBedrockId(id: string): string {
  return stripVendor(id)
    .replace(/^(?:[a-z]{2,}(?:-[a-z]+)*\.)(?=[a-z0-9]+\.)/, '')
    .replace(/(?:-v\d+)?(?::\d+)*$/, '');
}

/** Returns the id of a vendor's model with this name; null: the catalogue has no such model. */
export type FindKnownId = (vendor: Vendor, name: string) => string | null;

/** Loads the bundled catalogue, and returns the function that finds ids in it. */
export async function loadKnownIds(): Promise<FindKnownId> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  return (vendor, name) => {
    const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, name, { providerId: vendor });
    if (found === null) return null;
    const { id, match } = found.model;
    // For the alias `claude-sonnet-4`, the catalogue returns the full id `claude-sonnet-4-0`, which is used. For
    // `gpt-5-codex`, it returns the id of the family, but the name itself is the id.
    if (id.startsWith(name)) return id;
    return isExactName(match, name) || !isOtherVersion(name, id) ? name : null;
  };
}

/** Returns true if the catalogue contains exactly this name, and does not only match its beginning. */
function isExactName(match: MatchLogic, name: string): boolean {
  if ('or' in match) return match.or.some((part) => isExactName(part, name));
  return 'equals' in match && match.equals === name;
}

/**
 * Returns true if an id begins with a known id but names another version. The catalogue matches by prefix, so it
 * would use its data for `x-5` for a new model `x-5-5`. An id names the same version only if the known id is followed
 * by a date, by `latest`, or by a variant after `:` or `@`.
 */
export function isOtherVersion(id: string, known: string): boolean {
  if (!id.startsWith(known) || id === known) return false;
  return !/^(-(\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest)|[:@].*)$/.test(id.slice(known.length));
}

/** Returns true if two ids name the same model. An id may begin with a vendor and a slash, and end with a date. */
export function isSameModel(a: string, b: string): boolean {
  const [short, long] = [stripVendor(a), stripVendor(b)].toSorted((x, y) => x.length - y.length);
  if (short === undefined || long === undefined) return false;
  return long.startsWith(short) && !isOtherVersion(long, short);
}

function stripVendor(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

interface SteppedRate {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

type Rate = number | SteppedRate | undefined;
type CatalogueRates = Readonly<Record<string, Rate>>;

function toPrice(rates: CatalogueRates): ModelPrice | null {
  const base = findRates(rates, 0);
  if (base === null) return null;
  const longPrompts = findPriceSteps(rates).flatMap((abovePromptTokens) => {
    const higher = findRates(rates, abovePromptTokens + 1);
    return higher === null ? [] : [{ ...higher, abovePromptTokens }];
  });
  return {
    ...base,
    ...(longPrompts.length === 0 ? {} : { longPrompts }),
    source: `${CATALOGUE.name} ${CATALOGUE.version}`,
    asOf: CATALOGUE.asOf,
  };
}

/** Returns the prompt lengths above which a price is higher, in ascending order. */
function findPriceSteps(rates: CatalogueRates): readonly number[] {
  const starts = Object.values(rates).flatMap((rate) =>
    typeof rate === 'object' ? rate.tiers.map(({ start }) => start) : [],
  );
  return [...new Set(starts)].toSorted((a, b) => a - b);
}

/** Returns the prices for a prompt with this many tokens; null: the catalogue has no prices. */
function findRates(rates: CatalogueRates, promptTokens: number): TokenPrices | null {
  const input = findPricePerMillion(rates.input_mtok, promptTokens);
  const output = findPricePerMillion(rates.output_mtok, promptTokens);
  if (input === undefined || output === undefined) return null;
  return {
    input,
    output,
    // If the cache has no price, cached tokens cost as much as the other tokens of the prompt.
    cacheRead: findPricePerMillion(rates.cache_read_mtok, promptTokens) ?? input,
    cacheWrite: findPricePerMillion(rates.cache_write_mtok, promptTokens) ?? input,
  };
}

function findPricePerMillion(rate: Rate, promptTokens: number): number | undefined {
  if (typeof rate !== 'object') return rate;
  const tiers = rate.tiers.toSorted((a, b) => a.start - b.start);
  return tiers.findLast(({ start }) => promptTokens > start)?.price ?? rate.base;
}

/** The minimum for models that are not in `CACHE_MINIMUMS`. No provider caches a shorter prefix. */
const DEFAULT_CACHE_MINIMUM = 1024;

/**
 * The minimums of Anthropic's models. Source: the documentation of prompt caching, as quoted in
 * anthropic-sdk-python#1194, where 2,048 was measured for Sonnet 4.6.
 */
const CACHE_MINIMUMS: readonly (readonly [RegExp, number])[] = [
  [/claude-(opus-4-[5-9]|haiku-4-5)/, 4096],
  [/claude-(sonnet-4-6|3-haiku|3-5-haiku)/, 2048],
];

/** Returns the length in tokens of the shortest prefix that the provider of a model caches. */
export function findCacheMinimum(id: string): number {
  const dashed = id.replaceAll('.', '-');
  return CACHE_MINIMUMS.find(([pattern]) => pattern.test(dashed))?.[1] ?? DEFAULT_CACHE_MINIMUM;
}
