import { collapseWhitespace, truncate } from '../base/text.ts';
import { formatShortCount, formatShortDuration, formatElapsed } from './figures.ts';
import type { TurnRow } from './turn-rows.ts';

/** The maximum number of code points of the calls or the failure of a turn. */
const MAX_OUTCOME_LENGTH = 160;

const HEADER = ['turn', 'at', 'took', 'in', 'out', 'cached', 'cost', 'then'] as const;

/** Formats the turns as lines of a table, beginning with the header. All columns except the last are right-aligned. */
export function formatTurnLines(turns: readonly TurnRow[], from: number): readonly string[] {
  const rows = [HEADER, ...turns.map((turn) => createCells(turn, from))];
  const widths = HEADER.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => {
    const aligned = row.slice(0, -1).map((cell, at) => cell.padStart(widths[at] ?? 0));
    return `${aligned.join('  ')}  ${row.at(-1) ?? ''}`.trimEnd();
  });
}

function createCells(row: TurnRow, from: number): readonly string[] {
  const { usage, costUsd } = row;
  const mark = row.isEstimated ? '~' : '';
  const count = (tokens: number | undefined) =>
    tokens === undefined ? '' : `${mark}${formatShortCount(tokens)}`;
  const cost = costUsd === null ? '?' : `${mark}$${costUsd.toFixed(4)}`;
  return [
    String(row.turn),
    formatElapsed(row.at - from),
    row.ms === null ? '' : formatShortDuration(row.ms),
    count(usage === null ? undefined : usage.input + usage.cacheWrite),
    count(usage?.output),
    count(usage?.cacheRead),
    usage === null ? '' : cost,
    describeOutcome(row),
  ];
}

function describeOutcome({
  ms,
  calls,
  failure,
  retries,
  isCut,
  isSummary,
  isOfParent,
}: TurnRow): string {
  const rewound = isCut ? 'rewound; ' : '';
  const again = retries === 0 ? '' : `asked ${retries + 1} times; `;
  return `${rewound}${again}${truncate(collapseWhitespace(describeEnd()), MAX_OUTCOME_LENGTH)}`;

  function describeEnd(): string {
    if (failure !== null) return `${isSummary ? 'summary ' : ''}failed: ${failure}`;
    if (ms === null) return 'no end yet';
    if (isSummary) return `summary of its ${isOfParent ? "parent's conversation" : 'context'}`;
    return calls.length === 0 ? 'answer' : countCalls(calls);
  }
}

function countCalls(calls: readonly string[]): string {
  const counts = Map.groupBy(calls, (name) => name);
  const texts = Array.from(counts, ([name, { length }]) =>
    length === 1 ? name : `${name} × ${length}`,
  );
  return texts.join(', ');
}
