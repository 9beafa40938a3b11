import { collapseWhitespace, truncate } from '../base/text.ts';
import { shortCount, shortDuration, sinceText } from './figures.ts';
import type { TurnRow } from './turn-rows.ts';

/** The most code points of the calls or the failure of a turn. */
const SHOWN_OUTCOME = 160;

const HEADER = ['turn', 'at', 'took', 'in', 'out', 'cached', 'cost', 'then'] as const;

/**
 * Returns the turns as lines of a table, the header first, right-aligned except for the last column.
 */
export function turnLines(turns: readonly TurnRow[], from: number): readonly string[] {
  const rows = [HEADER, ...turns.map((turn) => cells(turn, from))];
  const widths = HEADER.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => {
    const aligned = row.slice(0, -1).map((cell, at) => cell.padStart(widths[at] ?? 0));
    return `${aligned.join('  ')}  ${row.at(-1) ?? ''}`.trimEnd();
  });
}

function cells(row: TurnRow, from: number): readonly string[] {
  const { usage, costUsd } = row;
  const about = row.isEstimated ? '~' : '';
  const count = (tokens: number | undefined) =>
    tokens === undefined ? '' : `${about}${shortCount(tokens)}`;
  const cost = costUsd === null ? '?' : `${about}$${costUsd.toFixed(4)}`;
  return [
    String(row.turn),
    sinceText(row.at - from),
    row.ms === null ? '' : shortDuration(row.ms),
    count(usage === null ? undefined : usage.input + usage.cacheWrite),
    count(usage?.output),
    count(usage?.cacheRead),
    usage === null ? '' : cost,
    outcome(row),
  ];
}

function outcome({ ms, calls, failure, retries, isCut, isSummary, isOfParent }: TurnRow): string {
  const cut = isCut ? 'rewound; ' : '';
  const again = retries === 0 ? '' : `asked ${retries + 1} times; `;
  return `${cut}${again}${truncate(collapseWhitespace(ending()), SHOWN_OUTCOME)}`;

  function ending(): string {
    if (failure !== null) return `${isSummary ? 'summary ' : ''}failed: ${failure}`;
    if (ms === null) return 'no end yet';
    if (isSummary) return `summary of its ${isOfParent ? "parent's conversation" : 'context'}`;
    return calls.length === 0 ? 'answer' : counted(calls);
  }
}

function counted(calls: readonly string[]): string {
  const counts = Map.groupBy(calls, (name) => name);
  const texts = Array.from(counts, ([name, { length }]) =>
    length === 1 ? name : `${name} × ${length}`,
  );
  return texts.join(', ');
}
