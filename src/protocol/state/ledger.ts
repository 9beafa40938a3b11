import type { TaskEvent } from '../events/event.ts';
import { addUsage, toCount, toUsageCounts, NO_USAGE, type Usage } from '../model.ts';

/** What answers have used together. */
export interface UsageTotal {
  readonly answers: number;
  readonly usage: Usage;
  /** USD of those that have a known price. */
  readonly costUsd: number;
  /** Answers without a known price. */
  readonly unpriced: number;
  /** Where the prices are from. */
  readonly pricedBy: readonly string[];
}

/** What a task has used of one model on one day. */
export interface LedgerEntry extends UsageTotal {
  /** `YYYY-MM-DD` in UTC, as the providers reckon: when the answer ended. */
  readonly day: string;
  /** `provider/id` of the one that answered. */
  readonly model: string;
  /** Of answers that ended without the provider's own usage: never mixed with what it said. */
  readonly isEstimated: boolean;
}

/** What a task has used, its children left out. */
export type Ledger = readonly LedgerEntry[];

export const NO_USAGE_TOTAL: UsageTotal = {
  answers: 0,
  usage: NO_USAGE,
  costUsd: 0,
  unpriced: 0,
  pricedBy: [],
};

/** The ledger after one more event. `model`: of answers that don't name theirs, in older logs. */
export function addToLedger(ledger: Ledger, event: TaskEvent, model: string): Ledger {
  switch (event.type) {
    case 'turn.ended':
    case 'turn.retried':
    case 'turn.failed':
    case 'summary.refused':
    case 'context.summarised':
      break;
    default:
      return ledger;
  }
  const { usage, estimated, costUsd = null, pricedBy } = event;
  const of = { day: formatUtcDay(event.ts), model: event.model ?? model };
  const prices = pricedBy === undefined ? [] : [pricedBy];
  let after = ledger;
  const isBroken = event.type === 'turn.retried' || event.type === 'turn.failed';
  const isReported = isBroken ? !isZeroUsage(usage) : estimated === undefined;
  if (isReported) after = book(after, { ...of, isEstimated: false }, use(usage, costUsd, prices));
  if (estimated === undefined) return after;
  const guess = use(estimated.usage, estimated.costUsd, prices);
  return book(after, { ...of, isEstimated: true }, guess);
}

function book(
  ledger: Ledger,
  of: Pick<LedgerEntry, 'day' | 'model' | 'isEstimated'>,
  more: UsageTotal,
): Ledger {
  const at = ledger.findLastIndex(
    ({ day, model, isEstimated }) =>
      day === of.day && model === of.model && isEstimated === of.isEstimated,
  );
  const known = ledger[at];
  if (known === undefined) return [...ledger, { ...of, ...more }];
  return ledger.with(at, { ...known, ...addUsageTotals(known, more) });
}

export function addUsageTotals(a: UsageTotal, b: UsageTotal): UsageTotal {
  const isNew = b.pricedBy.some((source) => !a.pricedBy.includes(source));
  return {
    answers: a.answers + b.answers,
    usage: addUsage(a.usage, b.usage),
    costUsd: a.costUsd + b.costUsd,
    unpriced: a.unpriced + b.unpriced,
    pricedBy: isNew ? [...new Set([...a.pricedBy, ...b.pricedBy])] : a.pricedBy,
  };
}

/** All of a ledger that the provider said, or all that is estimated. */
export function sumLedger(
  ledger: Ledger,
  { isEstimated }: { readonly isEstimated: boolean },
): UsageTotal {
  return ledger
    .filter((entry) => entry.isEstimated === isEstimated)
    .reduce<UsageTotal>((sum, entry) => addUsageTotals(sum, entry), NO_USAGE_TOTAL);
}

/** Null: no price is known for some of it. */
export function knownCost({
  costUsd,
  unpriced,
}: Pick<UsageTotal, 'costUsd' | 'unpriced'>): number | null {
  return unpriced > 0 ? null : costUsd;
}

function use(usage: Usage, costUsd: number | null, pricedBy: readonly string[]): UsageTotal {
  return {
    answers: 1,
    usage: toUsageCounts(usage),
    costUsd: toCount(costUsd),
    unpriced: costUsd === null ? 1 : 0,
    pricedBy,
  };
}

export function isZeroUsage({ input, output, cacheRead, cacheWrite }: Usage): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}

/** The last moment whose year has four digits. */
const LAST_MS = Date.UTC(9999, 11, 31);

/** `YYYY-MM-DD`, of whatever a log gives for a time. */
export function formatUtcDay(ms: number): string {
  return new Date(Math.min(toCount(ms), LAST_MS)).toISOString().slice(0, 10);
}
