import type { ModelPrice, Rates, Usage } from '../../protocol/model.ts';

const PER = 1_000_000;

/** What a request cost in US dollars; null where no price is known. Reasoning is part of output. */
export function computeCostUsd(usage: Usage, price: ModelPrice | null): number | null {
  if (price === null) return null;
  const rates = selectRates(price, usage.input + usage.cacheRead + usage.cacheWrite);
  const total =
    usage.input * rates.input +
    usage.output * rates.output +
    usage.cacheRead * rates.cacheRead +
    usage.cacheWrite * rates.cacheWrite;
  return total / PER;
}

/** What a request with a prompt of so many tokens is charged by, all of it. */
export function selectRates(price: ModelPrice, promptTokens: number): Rates {
  return price.longPrompts?.findLast(({ above }) => promptTokens > above) ?? price;
}

/** The source of a price in a few words, for people and for the log. */
export function describePriceSource({ source, asOf }: ModelPrice): string {
  return asOf === null ? source : `${source} of ${asOf}`;
}
