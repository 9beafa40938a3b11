import type { UsageTotal } from '../protocol/state/ledger.ts';

/**
 * Returns a cost as `$0.0123`, as `at least $0.0123` if the price of a part is not known, or as `unknown`.
 */
export function formatCost({ costUsd, unpriced, answers }: UsageTotal): string {
  if (unpriced === 0) return formatUsd(costUsd);
  return unpriced === answers ? 'unknown' : `at least ${formatUsd(costUsd)}`;
}

/** Returns an amount of US dollars as `$0.0123`. */
export function formatUsd(amount: number): string {
  return `$${amount.toFixed(4)}`;
}

/** Returns a count as `1,234,567`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
