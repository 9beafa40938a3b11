import type { TotalUse } from '../model/total-use.ts';

/** Formats a number of tokens: `950`, `12.3k`, `123k`, `4.1M`. */
export function shortTokens(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 99_950) return `${(count / 1_000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Formats a duration: `7s`, `4:05`, `1:02:33`. */
export function shortTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const two = (part: number) => String(part).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** Formats the cost of several answers: `$0.0123`, or `$0.0123+` if only a part of them has a known price. */
export function totalCost({
  pricedUsd,
  isPriced,
}: Pick<TotalUse, 'pricedUsd' | 'isPriced'>): string {
  if (isPriced) return shortCost(pricedUsd);
  return pricedUsd > 0 ? `${shortCost(pricedUsd)}+` : shortCost(null);
}

/** Formats a cost: `$0.0123`; `$?` for null, if no price is known. */
export function shortCost(usd: number | null): string {
  if (usd === null) return '$?';
  return usd >= 10 ? `$${usd.toFixed(2)}` : `$${usd.toFixed(4)}`;
}
