import { addUsageTotals, type UsageTotal } from '../protocol/state/ledger.ts';
import { paidTokens } from '../protocol/model.ts';
import { formatDuration } from '../base/text.ts';
import { formatCost } from './cost-text.ts';

/** The usage of a task as texts that are short enough for a table on a screen of 80 columns. */
interface Figures {
  /** The paid tokens: input that was not read from a cache, plus output. A `~` marks a partly estimated count. */
  readonly tokens: string;
  /** The cost as `$0.0123`, with `≥` if the price of a part is not known, or `?` if no price is. */
  readonly cost: string;
}

/** Formats the usage of a task: the sum of reported and estimated usage. */
export function formatUsage(use: {
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
}): Figures {
  const total = addUsageTotals(use.reported, use.estimated);
  const mark = use.estimated.answers === 0 ? '' : '~';
  return {
    tokens: `${mark}${formatShortCount(paidTokens(total.usage))}`,
    cost: `${mark}${formatCost(total).replace('at least ', '≥').replace('unknown', '?')}`,
  };
}

/** Returns a count as `950`, `12.3k` or `4.5M`. */
export function formatShortCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Returns a duration for a column: `0.85 s`, `12.3 s`, `4:10` in minutes, `2:04:10` in hours. */
export function formatShortDuration(ms: number): string {
  if (ms < 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 60_000) return formatDuration(ms);
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours === 0
    ? `${minutes}:${tail}`
    : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}

/** Formats the time since the beginning of the tree in seconds: `+12.345`. */
export function formatElapsed(ms: number): string {
  return `+${(ms / 1000).toFixed(3)}`;
}

/** The latest time that a Date can represent. */
const LAST_DATE = 8.64e15;

/**
 * Formats a time as `2026-03-01 17:05:09 UTC`. Returns `no date` for a number that is not a date, because an imported
 * log may contain any number.
 */
export function formatUtc(ms: number): string {
  if (Math.abs(ms) > LAST_DATE) return 'no date';
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
