import type { Ledger, LedgerEntry } from '../../protocol/state/ledger.ts';

/**
 * A compact form of an entry for the index, which may contain tens of thousands: day, model, whether it is estimated,
 * number of answers, their usage (input, output, cache read, cache write, reasoning), USD, number of answers without a
 * price, sources of prices.
 */
type LedgerRow = readonly [
  string,
  string,
  0 | 1,
  number,
  readonly number[],
  number,
  number,
  readonly string[],
];

export function formatLedgerRows(ledger: Ledger): readonly LedgerRow[] {
  return ledger.map(({ day, model, isEstimated, answers, usage, costUsd, unpriced, pricedBy }) => {
    const { input, output, cacheRead, cacheWrite, reasoning } = usage;
    const tokens = [input, output, cacheRead, cacheWrite, reasoning];
    return [day, model, isEstimated ? 1 : 0, answers, tokens, costUsd, unpriced, pricedBy];
  });
}

/** Parses the rows of a ledger; undefined if they are malformed. */
export function parseLedgerRows(rows: unknown): Ledger | undefined {
  if (!Array.isArray(rows)) return undefined;
  const entries: LedgerEntry[] = [];
  for (const row of rows) {
    const entry = parseRow(row);
    if (entry === undefined) return undefined;
    entries.push(entry);
  }
  return entries;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function parseRow(row: unknown): LedgerEntry | undefined {
  if (!Array.isArray(row)) return undefined;
  const [day, model, isEstimated, answers, tokens, costUsd, unpriced, pricedBy]: unknown[] = row;
  if (typeof day !== 'string' || !DAY.test(day) || typeof model !== 'string') return undefined;
  if (!isCount(answers) || !isCount(costUsd) || !isCount(unpriced)) return undefined;
  if (!Array.isArray(tokens) || !Array.isArray(pricedBy)) return undefined;
  const [input, output, cacheRead, cacheWrite, reasoning] = tokens.filter(isCount);
  const sources = pricedBy.filter((source) => typeof source === 'string');
  if (input === undefined || output === undefined || cacheRead === undefined) return undefined;
  if (cacheWrite === undefined || reasoning === undefined) return undefined;
  return {
    day,
    model,
    isEstimated: isEstimated === 1,
    answers,
    usage: { input, output, cacheRead, cacheWrite, reasoning },
    costUsd,
    unpriced,
    pricedBy: sources,
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
