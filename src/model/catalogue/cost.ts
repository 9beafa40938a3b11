import type { ModelPrice, TokenPrices, Usage } from '../../protocol/model.ts';

/** The number of tokens for which prices are stated. */
const TOKENS_PER_PRICE = 1_000_000;

/**
 * Computes the cost of a request in US dollars; null: no price is known. The output includes the reasoning.
 *
 * @param searches the searches with the provider's own search tool. Their fee counts if it is known.
 */
export function computeCostUsd(
  usage: Usage,
  price: ModelPrice | null,
  searches = 0,
): number | null {
  if (price === null) return null;
  const prices = selectRates(price, usage.input + usage.cacheRead + usage.cacheWrite);
  const total =
    usage.input * prices.input +
    usage.output * prices.output +
    usage.cacheRead * prices.cacheRead +
    usage.cacheWrite * prices.cacheWrite;
  return total / TOKENS_PER_PRICE + searches * (price.search ?? 0);
}

/** Returns the prices of a request. Above certain lengths of the prompt, all tokens of a request cost more. */
export function selectRates(price: ModelPrice, promptTokens: number): TokenPrices {
  return (
    price.longPrompts?.findLast(({ abovePromptTokens }) => promptTokens > abovePromptTokens) ??
    price
  );
}

/** Describes the source of a price for messages and for the log. */
export function describePriceSource({ source, asOf }: ModelPrice): string {
  return asOf === null ? source : `${source} of ${asOf}`;
}
