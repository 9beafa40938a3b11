import { addUsageTotals, type UsageTotal } from '../protocol/state/ledger.ts';
import { paidTokens } from '../protocol/model.ts';
import { formatDuration } from '../base/text.ts';
import { costText } from './cost-text.ts';

/** The figures of a task, short enough for a table on a screen 80 columns wide. */
interface Figures {
  /**
   * The paid tokens: input not read from cache, plus output. A `~` marks a partly estimated count.
   */
  readonly tokens: string;
  /** The cost as `$0.0123`, with `≥` if the price of a part is not known, or `?` if no price is. */
  readonly cost: string;
}

/** Returns the figures of a task, with reported and estimated use added up. */
export function useFigures(use: {
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
}): Figures {
  const all = addUsageTotals(use.reported, use.estimated);
  const about = use.estimated.answers === 0 ? '' : '~';
  return {
    tokens: `${about}${shortCount(paidTokens(all.usage))}`,
    cost: `${about}${costText(all).replace('at least ', '≥').replace('unknown', '?')}`,
  };
}

/** Returns a count as `950`, `12.3k` or `4.5M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Returns a duration for a column: `0.85 s`, `12.3 s`, `4:10` in minutes, `2:04:10` in hours. */
export function shortDuration(ms: number): string {
  if (ms < 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 60_000) return formatDuration(ms);
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours === 0
    ? `${minutes}:${tail}`
    : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}

/** Returns seconds since the beginning of the tree as `+12.345`. */
export function sinceText(ms: number): string {
  return `+${(ms / 1000).toFixed(3)}`;
}

const LAST_DATE = 8.64e15;

/**
 * Returns a time as `2026-03-01 17:05:09 UTC`, or `no date`, since an imported log may contain any number.
 */
export function utcText(ms: number): string {
  if (Math.abs(ms) > LAST_DATE) return 'no date';
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
