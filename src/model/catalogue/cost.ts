import type { ModelPrice, TokenPrices, Usage } from '../../protocol/model.ts';

/** Rates are prices for this many tokens. */
const TOKENS_PER_RATE = 1_000_000;

/** Computes the cost of a request in US dollars; null: no price is known. Reasoning is part of output. */
export function computeCostUsd(usage: Usage, price: ModelPrice | null): number | null {
  if (price === null) return null;
  const rates = selectRates(price, usage.input + usage.cacheRead + usage.cacheWrite);
  const total =
    usage.input * rates.input +
    usage.output * rates.output +
    usage.cacheRead * rates.cacheRead +
    usage.cacheWrite * rates.cacheWrite;
  return total / TOKENS_PER_RATE;
}

/** Returns the rates for all tokens of a request with a prompt of this length. */
export function selectRates(price: ModelPrice, promptTokens: number): TokenPrices {
  return price.longPrompts?.findLast(({ above }) => promptTokens > above) ?? price;
}

/** Describes the source of a price for messages and for the log. */
export function describePriceSource({ source, asOf }: ModelPrice): string {
  return asOf === null ? source : `${source} of ${asOf}`;
}
