import type { MatchLogic } from '@pydantic/genai-prices';
import type { ModelDetails, ModelPrice, Rates } from '../../protocol/model.ts';
import type { FindKnownId } from '../selection/display-name.ts';
import { findOutputLimit } from './output-limits.ts';
import { type ModelOverride, OVERRIDE_SOURCE } from './model-overrides.ts';
import type { ConfiguredProvider } from '../providers/providers.ts';

/** The package whose data this is, and the day that its version was made. */
export const CATALOGUE = { name: '@pydantic/genai-prices', version: '0.1.8', asOf: '2026-09-23' };

export const UNKNOWN_DETAILS: ModelDetails = { contextWindow: null, maxOutput: null, price: null };

/**
 * What the bundled catalogue knows of a provider's model. Loads the catalogue at the first call
 * (some 40 ms): ask only when an answer is on its way. Never rejects for a model that is not known;
 * its facts are null.
 */
export async function loadModelDetails(
  provider: Pick<ConfiguredProvider, 'protocol' | 'vendor' | 'baseUrl' | 'isPrivate'>,
  id: string,
  override: ModelOverride = {},
): Promise<ModelDetails> {
  const { vendor, baseUrl, isPrivate } = provider;
  const maxOutput = override.outputLimit ?? findOutputLimit(provider, id);
  const contextWindow = override.contextWindow ?? null;
  const price: ModelPrice | null =
    override.price === undefined
      ? null
      : { ...override.price, source: OVERRIDE_SOURCE, asOf: null };
  const unknown = { contextWindow, maxOutput, price };
  // What runs on the user's own machines has no price that anybody could know.
  if (vendor === null && isPrivate) return unknown;
  const { calcPrice } = await import('@pydantic/genai-prices');
  const whose = vendor === null ? { providerApiUrl: baseUrl } : { providerId: vendor };
  const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, id, whose);
  if (found === null || isOtherVersion(id, found.model.id)) return unknown;
  return {
    contextWindow: contextWindow ?? found.model.context_window ?? null,
    maxOutput,
    price: price ?? toPrice(found.model_price),
    cacheMinimum: findCacheMinimum(id),
  };
}

/** Which ids the bundled catalogue knows. Loads it, as `modelFacts` does. */
export async function loadKnownIds(): Promise<FindKnownId> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  return (vendor, name) => {
    const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, name, { providerId: vendor });
    if (found === null) return null;
    const { id, match } = found.model;
    // `claude-sonnet-4` is a name of `claude-sonnet-4-0`; `gpt-5-codex` one of a family, and an id.
    if (id.startsWith(name)) return id;
    return isNamed(match, name) || !isOtherVersion(name, id) ? name : null;
  };
}

/** Whether the name stands in the catalogue as a whole, and is not taken for one by its beginning. */
function isNamed(match: MatchLogic, name: string): boolean {
  if ('or' in match) return match.or.some((each) => isNamed(each, name));
  return 'equals' in match && match.equals === name;
}

/**
 * The catalogue matches by prefix, so that it takes a new `x-5-5` for the `x-5` it knows. What
 * stands behind the id that it knows may only be a date, `latest` or a variant after `:`.
 */
export function isOtherVersion(id: string, known: string): boolean {
  if (!id.startsWith(known) || id === known) return false;
  return !/^(-(\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest)|[:@].*)$/.test(id.slice(known.length));
}

/** Whether these name one model, with and without its vendor or a date. */
export function isSameModel(a: string, b: string): boolean {
  const [short, long] = [ownName(a), ownName(b)].toSorted((x, y) => x.length - y.length);
  if (short === undefined || long === undefined) return false;
  return long.startsWith(short) && !isOtherVersion(long, short);
}

function ownName(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

interface SteppedRate {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

type Rate = number | SteppedRate | undefined;
type CatalogueRates = Readonly<Record<string, Rate>>;

function toPrice(rates: CatalogueRates): ModelPrice | null {
  const base = ratesAbove(rates, 0);
  if (base === null) return null;
  const longPrompts = stepsOf(rates).flatMap((above) => {
    const found = ratesAbove(rates, above + 1);
    return found === null ? [] : [{ ...found, above }];
  });
  return {
    ...base,
    ...(longPrompts.length === 0 ? {} : { longPrompts }),
    source: `${CATALOGUE.name} ${CATALOGUE.version}`,
    asOf: CATALOGUE.asOf,
  };
}

/** Lengths of a prompt above which something costs more, the shortest first. */
function stepsOf(rates: CatalogueRates): readonly number[] {
  const starts = Object.values(rates).flatMap((rate) =>
    typeof rate === 'object' ? rate.tiers.map(({ start }) => start) : [],
  );
  return [...new Set(starts)].toSorted((a, b) => a - b);
}

/** What holds for a prompt of so many tokens. */
function ratesAbove(rates: CatalogueRates, promptTokens: number): Rates | null {
  const input = perMillion(rates.input_mtok, promptTokens);
  const output = perMillion(rates.output_mtok, promptTokens);
  if (input === undefined || output === undefined) return null;
  return {
    input,
    output,
    // Where a cache costs nothing of its own, its tokens cost what the others do.
    cacheRead: perMillion(rates.cache_read_mtok, promptTokens) ?? input,
    cacheWrite: perMillion(rates.cache_write_mtok, promptTokens) ?? input,
  };
}

function perMillion(rate: Rate, promptTokens: number): number | undefined {
  if (typeof rate !== 'object') return rate;
  const tiers = rate.tiers.toSorted((a, b) => a.start - b.start);
  return tiers.findLast(({ start }) => promptTokens > start)?.price ?? rate.base;
}

/** Where no more is known: no provider caches a shorter prefix. */
const LEAST = 1024;

/**
 * Anthropic's documentation of prompt caching, as quoted in anthropic-sdk-python#1194; there 2,048 was
 * measured for Sonnet 4.6.
 */
const BY_MODEL: readonly (readonly [RegExp, number])[] = [
  [/claude-(opus-4-[5-9]|haiku-4-5)/, 4096],
  [/claude-(sonnet-4-6|3-haiku|3-5-haiku)/, 2048],
];

/** The shortest prefix that a model's provider caches, in tokens. */
export function findCacheMinimum(id: string): number {
  const dashed = id.replaceAll('.', '-');
  return BY_MODEL.find(([pattern]) => pattern.test(dashed))?.[1] ?? LEAST;
}
