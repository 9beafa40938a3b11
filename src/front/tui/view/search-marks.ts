import type { Pen } from './pen.ts';

// oxlint-disable-next-line no-control-regex -- colors as the pen writes them
const COLOR = /\u001b\[[\d;]*m/g;
/** Splits a line and keeps the colors. */
const COLORS_KEPT = new RegExp(`(${COLOR.source})`);
const RESET = '\u001b[0m';

/** A range of a line, in UTF-16 units without the colors. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Marks all matches in drawn lines. `here` is the line of the current match; null if there is none. */
export function markMatches(
  lines: readonly string[],
  pattern: RegExp,
  here: number | null,
  pen: Pen,
): readonly string[] {
  const ranges = matchedRanges(lines, pattern);
  return lines.map((line, index) => {
    const found = ranges[index] ?? [];
    return found.length === 0
      ? line
      : marked(line, found, (text) => pen.paint(index === here ? 'found-here' : 'found', text));
  });
}

/** The indexes of the lines in which a match starts. */
export function matchedLines(lines: readonly string[], pattern: RegExp): readonly number[] {
  const plain = lines.map(uncolored);
  const starts = lineStarts(plain);
  const matches = [...plain.join('\n').matchAll(pattern)];
  return [...new Set(matches.map(({ index }) => lineAt(starts, index)))];
}

/** The matched ranges of each line. A match may start on one line and end on another. */
function matchedRanges(lines: readonly string[], pattern: RegExp): readonly (readonly Range[])[] {
  const plain = lines.map(uncolored);
  const starts = lineStarts(plain);
  const ranges: Range[][] = lines.map(() => []);
  for (const match of plain.join('\n').matchAll(pattern)) {
    const end = match.index + match[0].length;
    for (let line = lineAt(starts, match.index); line < lines.length; line += 1) {
      const start = starts[line] ?? 0;
      if (start >= end) break;
      const from = Math.max(0, match.index - start);
      const to = Math.min(end - start, plain[line]?.length ?? 0);
      if (from < to) ranges[line]?.push({ from, to });
    }
  }
  return ranges;
}

function uncolored(line: string): string {
  return line.replaceAll(COLOR, '');
}

/** The offset of each line in the joined lines. */
function lineStarts(plain: readonly string[]): readonly number[] {
  let at = 0;
  return plain.map(({ length }) => {
    const start = at;
    at += length + 1;
    return start;
  });
}

function lineAt(starts: readonly number[], position: number): number {
  return Math.max(
    0,
    starts.findLastIndex((start) => start <= position),
  );
}

/** Colors the ranges of a line; the text between them keeps its colors. */
function marked(line: string, ranges: readonly Range[], paint: (text: string) => string): string {
  let drawn = '';
  let at = 0;
  let colors = '';
  for (const piece of line.split(COLORS_KEPT)) {
    if (piece.startsWith('\u001b[')) {
      colors = piece === RESET ? '' : colors + piece;
      drawn += piece;
      continue;
    }
    drawn += markedPiece(piece, { at, ranges, colors, paint });
    at += piece.length;
  }
  return drawn;
}

function markedPiece(
  piece: string,
  {
    at,
    ranges,
    colors,
    paint,
  }: {
    readonly at: number;
    readonly ranges: readonly Range[];
    readonly colors: string;
    readonly paint: (text: string) => string;
  },
): string {
  let drawn = '';
  let done = 0;
  for (const { from, to } of ranges) {
    const start = Math.max(done, from - at);
    const end = Math.min(piece.length, to - at);
    if (start >= end) continue;
    const reset = colors === '' ? '' : RESET;
    drawn += `${piece.slice(done, start)}${reset}${paint(piece.slice(start, end))}${colors}`;
    done = end;
  }
  return drawn + piece.slice(done);
}
