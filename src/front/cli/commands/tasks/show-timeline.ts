import { formatShortDuration, formatUtc } from '../../../../report/figures.ts';
import {
  SPAN_KINDS,
  SPAN_NAMES,
  sumTimeByKind,
  type Span,
  type SpanKind,
} from '../../../../report/span.ts';
import type { TaskReport } from '../../../../report/task-report.ts';
import type { TreeReport } from '../../../../report/tree-report.ts';
import { formatDuration } from '../../../../base/text.ts';
import { fitColumns, leftOut, SHOWN_TASKS } from './show-tree.ts';

const ID_WIDTH = 12;
/** The number of cells in the bar of a task. With the id and two borders, a line has 79 columns. */
const CELLS = 64;
const MAX_WIDTH = 79;

/** The letters of the bars, one for each kind of span. */
const SIGNS: Readonly<Record<SpanKind, string>> = {
  slot: 's',
  model: 'M',
  retry: 'r',
  held: 'L',
  tool: 'T',
  children: 'c',
  person: 'P',
  away: '-',
};

/** Draws a bar for each task, which shows when it ran and what it waited for. All bars have the same scale. */
export function timelineLines({ rows, from, to }: TreeReport): readonly string[] {
  const shown = rows.slice(0, SHOWN_TASKS);
  const bars = shown.flatMap(({ id, report }) =>
    report === null ? [] : [`${fitColumns(id, ID_WIDTH)} |${bar(report.spans, { from, to })}|`],
  );
  const spans = rows.flatMap(({ report }) => report?.spans ?? []);
  const kinds = new Set(spans.map(({ kind }) => kind));
  const used = SPAN_KINDS.filter((kind) => kinds.has(kind));
  const legend = inLines(
    used.map((kind) => `${SIGNS[kind]} ${SPAN_NAMES[kind]}`),
    ' · ',
  );
  const scale = `${formatUtc(from)}, ${formatDuration(to - from)}, a cell ${formatDuration((to - from) / CELLS)}`;
  return [`from ${scale}`, ...bars, ...leftOut(rows.length), ...legend];
}

/** Lists what the time of one task was spent on. */
export function timeLines({ id, spans }: TaskReport): readonly string[] {
  const sums = sumTimeByKind(spans).map(
    ({ kind, ms }) => `${SPAN_NAMES[kind]} ${formatShortDuration(ms)}`,
  );
  return inLines([`time of ${id}: ${sums[0] ?? 'none'}`, ...sums.slice(1)], ', ');
}

/** Joins words into lines of at most `MAX_WIDTH` columns. */
function inLines(words: readonly string[], between: string): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1) ?? ''}${between}${word}`;
    if (lines.length > 0 && longer.length <= MAX_WIDTH) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/**
 * Fills each cell with the kind of span that took most of its time. Time without a span does not count, so that even a
 * short span is visible.
 */
function bar(
  spans: readonly Span[],
  { from, to }: { readonly from: number; readonly to: number },
): string {
  const cellMs = Math.max(to - from, 1) / CELLS;
  const cells = Array.from({ length: CELLS }, () => new Map<SpanKind, number>());
  for (const span of spans) {
    const first = Math.max(0, Math.floor((span.from - from) / cellMs));
    const last = Math.min(CELLS - 1, Math.floor((span.to - from) / cellMs));
    for (let at = first; at <= last; at += 1) {
      const start = from + at * cellMs;
      const share = Math.min(span.to, start + cellMs) - Math.max(span.from, start);
      const cell = cells[at];
      if (share > 0) cell?.set(span.kind, (cell.get(span.kind) ?? 0) + share);
    }
  }
  return cells.map(findLongestKind).join('');
}

function findLongestKind(cell: ReadonlyMap<SpanKind, number>): string {
  let longest: SpanKind | null = null;
  for (const [kind, ms] of cell) {
    if (ms > (longest === null ? 0 : (cell.get(longest) ?? 0))) longest = kind;
  }
  return longest === null ? ' ' : SIGNS[longest];
}
