import type { TaskEvent } from '../events/event.ts';
import { addUsage, toCount, toUsageCounts, NO_USAGE, type Usage } from '../model.ts';

/** The total usage of several answers. */
export interface UsageTotal {
  readonly answers: number;
  readonly usage: Usage;
  /** The cost in USD of the answers with a known price. */
  readonly costUsd: number;
  /** The number of answers without a known price. */
  readonly unpriced: number;
  /** The sources of the prices. */
  readonly pricedBy: readonly string[];
}

/** The usage of one model by a task on one day. */
export interface LedgerEntry extends UsageTotal {
  /** The day on which the answers ended, `YYYY-MM-DD` in UTC, which providers use. */
  readonly day: string;
  /** The model that answered, as `provider/id`. */
  readonly model: string;
  /** True for estimates of answers without the provider's numbers. They are never added to reported usage. */
  readonly isEstimated: boolean;
}

/** The usage of a task without its children. */
export type Ledger = readonly LedgerEntry[];

export const NO_USAGE_TOTAL: UsageTotal = {
  answers: 0,
  usage: NO_USAGE,
  costUsd: 0,
  unpriced: 0,
  pricedBy: [],
};

/** Returns the ledger after another event. `model`: the model of answers that name none, in older logs. */
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

/** Adds up the entries of a ledger: either all that the provider reported, or all estimates. */
export function sumLedger(
  ledger: Ledger,
  { isEstimated }: { readonly isEstimated: boolean },
): UsageTotal {
  return ledger
    .filter((entry) => entry.isEstimated === isEstimated)
    .reduce<UsageTotal>((sum, entry) => addUsageTotals(sum, entry), NO_USAGE_TOTAL);
}

/** Returns the cost; null if the price of an answer is not known. */
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

/** The beginning of the last day whose year has four digits. */
const LAST_MS = Date.UTC(9999, 11, 31);

/** Formats a time as `YYYY-MM-DD` in UTC. Any number is accepted, because a log may contain anything. */
export function formatUtcDay(ms: number): string {
  return new Date(Math.min(toCount(ms), LAST_MS)).toISOString().slice(0, 10);
}
