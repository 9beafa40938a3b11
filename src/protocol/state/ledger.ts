import type { TaskEvent } from '../events/event.ts';
import { addUsage, toCount, toUsageCounts, NO_USAGE, type Usage } from '../model.ts';

/** The total usage of several answers. */
export interface UsageTotal {
  /** The number of answers. */
  readonly answers: number;
  /** The sum of the usage of the answers. */
  readonly usage: Usage;
  /** The cost in USD of the answers with a known price. */
  readonly costUsd: number;
  /** The number of answers without a known price. */
  readonly unpriced: number;
  /** The sources of the prices. */
  readonly pricedBy: readonly string[];
}

/** The usage of one model by one task on one day. */
export interface LedgerEntry extends UsageTotal {
  /** The day on which the answers ended, `YYYY-MM-DD` in UTC, because providers also bill by days in UTC. */
  readonly day: string;
  /** The model that answered, as `provider/id`. */
  readonly model: string;
  /** True for estimated usage of answers whose usage the provider did not report. It is never added to reported usage. */
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

/** Returns the ledger after an event. `model`: the model for answers without a model, which older logs contain. */
export function addToLedger(ledger: Ledger, event: TaskEvent, model: string): Ledger {
  switch (event.type) {
    case 'turn.ended':
    case 'turn.retried':
    case 'turn.failed':
    case 'summary.refused':
    case 'context.summarised':
    case 'request.ended':
      break;
    default:
      return ledger;
  }
  const { usage, estimated, costUsd = null, pricedBy } = event;
  const key = { day: formatUtcDay(event.ts), model: event.model ?? model };
  const prices = pricedBy === undefined ? [] : [pricedBy];
  let result = ledger;
  const isFailed =
    event.type === 'request.ended'
      ? event.failure !== null
      : event.type === 'turn.retried' || event.type === 'turn.failed';
  const isReported = isFailed ? !isZeroUsage(usage) : estimated === undefined;
  if (isReported)
    result = addToEntry(
      result,
      { ...key, isEstimated: false },
      createUsageTotal(usage, costUsd, prices),
    );
  if (estimated === undefined) return result;
  const estimate = createUsageTotal(estimated.usage, estimated.costUsd, prices);
  return addToEntry(result, { ...key, isEstimated: true }, estimate);
}

/** Adds usage to the entry of a day and a model, and creates the entry if it is missing. */
function addToEntry(
  ledger: Ledger,
  key: Pick<LedgerEntry, 'day' | 'model' | 'isEstimated'>,
  total: UsageTotal,
): Ledger {
  const index = ledger.findLastIndex(
    ({ day, model, isEstimated }) =>
      day === key.day && model === key.model && isEstimated === key.isEstimated,
  );
  const known = ledger[index];
  if (known === undefined) return [...ledger, { ...key, ...total }];
  return ledger.with(index, { ...known, ...addUsageTotals(known, total) });
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

/** Adds up the entries of a ledger: either all entries with reported usage, or all entries with estimated usage. */
export function sumLedger(
  ledger: Ledger,
  { isEstimated }: { readonly isEstimated: boolean },
): UsageTotal {
  return ledger
    .filter((entry) => entry.isEstimated === isEstimated)
    .reduce<UsageTotal>((sum, entry) => addUsageTotals(sum, entry), NO_USAGE_TOTAL);
}

/** Returns the cost in USD; null: the price of an answer is not known. */
export function knownCost({
  costUsd,
  unpriced,
}: Pick<UsageTotal, 'costUsd' | 'unpriced'>): number | null {
  return unpriced > 0 ? null : costUsd;
}

function createUsageTotal(
  usage: Usage,
  costUsd: number | null,
  pricedBy: readonly string[],
): UsageTotal {
  return {
    answers: 1,
    usage: toUsageCounts(usage),
    costUsd: toCount(costUsd),
    unpriced: costUsd === null ? 1 : 0,
    pricedBy,
  };
}

/** Returns true if a usage contains no tokens. */
export function isZeroUsage({ input, output, cacheRead, cacheWrite }: Usage): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}

/** The time at which the last day with a four-digit year begins. */
const MAX_DAY_MS = Date.UTC(9999, 11, 31);

/** Formats a time as `YYYY-MM-DD` in UTC. Accepts any number, because a log may contain any value. */
export function formatUtcDay(ms: number): string {
  return new Date(Math.min(toCount(ms), MAX_DAY_MS)).toISOString().slice(0, 10);
}
