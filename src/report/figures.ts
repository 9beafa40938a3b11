import { addUsageTotals, type UsageTotal } from '../protocol/state/ledger.ts';
import { paidTokens } from '../protocol/model.ts';
import { formatDuration } from '../base/text.ts';
import { costText } from './cost-text.ts';

/** Of a task, a row: short enough for a table of a screen 80 columns wide. */
interface Figures {
  /** Paid for: input not read from cache, plus output; `~` before what is estimated in part. */
  readonly tokens: string;
  /** `$0.0123`; `≥` where the price of a part is not known, `?` where that of all is not. */
  readonly cost: string;
}

/** What a task has used, reported and estimated together, and marked where it is. */
export function figures(use: {
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

/** `950`, `12.3k`, `4.5M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** `0.85 s`, `12.3 s`, `4:10` minutes, `2:04:10` hours: for a column. */
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

/** `+12.345`: seconds since the beginning of the tree, as the timeline has them. */
export function sinceText(ms: number): string {
  return `+${(ms / 1000).toFixed(3)}`;
}

const LAST_DATE = 8.64e15;

/** `2026-03-01 17:05:09 UTC`; a log that was brought here may say anything. */
export function utcText(ms: number): string {
  if (Math.abs(ms) > LAST_DATE) return 'no date';
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
