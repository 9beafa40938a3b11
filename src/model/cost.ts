import type { ModelPrice, Usage } from '../protocol/model.ts';

const PER = 1_000_000;

/** What a request cost in US dollars; null where no price is known. Reasoning is part of output. */
export function costUsd(usage: Usage, price: ModelPrice | null): number | null {
  if (price === null) return null;
  const total =
    usage.input * price.input +
    usage.output * price.output +
    usage.cacheRead * price.cacheRead +
    usage.cacheWrite * price.cacheWrite;
  return total / PER;
}
