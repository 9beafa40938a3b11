import type { Pen } from './pen.ts';

// oxlint-disable-next-line no-control-regex -- colors and links as the pen writes them
const COLOR = /\u001b\[[\d;]*m|\u001b\]8;;[!-~]*\u001b\\/g;
const LINK = '\u001b]';
/** Splits a line and keeps the colors and links. */
const COLORS_KEPT = new RegExp(`(${COLOR.source})`);
const RESET = '\u001b[0m';

/** A range of a line, in UTF-16 units without the colors. */
interface Range {
  readonly from: number;
  readonly to: number;
  /** Whether a match starts here, and did not start on an earlier line. */
  readonly isStart: boolean;
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
    const role = index === here ? 'found-here' : 'found';
    return marked(line, ranges[index] ?? [], (text) => pen.paint(role, text));
  });
}

/** Returns the indexes of the lines in which a match starts. */
export function matchedLines(lines: readonly string[], pattern: RegExp): readonly number[] {
  const ranges = matchedRanges(lines, pattern);
  return [...ranges.keys()].filter((line) => ranges[line]?.some(({ isStart }) => isStart));
}

/** Returns the matched ranges of each line. A match may start on one line and end on a later one. */
function matchedRanges(lines: readonly string[], pattern: RegExp): readonly (readonly Range[])[] {
  const plain = lines.map((line) => line.replaceAll(COLOR, ''));
  const starts = lineStarts(plain);
  const ranges: Range[][] = lines.map(() => []);
  for (const match of plain.join('\n').matchAll(pattern)) {
    const end = match.index + match[0].length;
    const first = starts.findLastIndex((start) => start <= match.index);
    for (let line = first; line < lines.length; line += 1) {
      const start = starts[line] ?? 0;
      if (start >= end) break;
      const from = Math.max(0, match.index - start);
      const to = Math.min(end - start, plain[line]?.length ?? 0);
      if (from < to) ranges[line]?.push({ from, to, isStart: line === first });
    }
  }
  return ranges;
}

/** Returns the offset of each line in the text of all joined lines. */
function lineStarts(plain: readonly string[]): readonly number[] {
  let end = -1;
  return plain.map(({ length }) => {
    const start = end + 1;
    end = start + length;
    return start;
  });
}

/** Colors the ranges of a line; the text between them keeps its colors. */
function marked(line: string, ranges: readonly Range[], paint: (text: string) => string): string {
  if (ranges.length === 0) return line;
  let [drawn, at, colors] = ['', 0, ''];
  for (const piece of line.split(COLORS_KEPT)) {
    if (piece.startsWith(LINK)) {
      drawn += piece;
      continue;
    }
    if (piece.startsWith('\u001b[')) {
      colors = piece === RESET ? '' : colors + piece;
      drawn += piece;
      continue;
    }
    const reset = colors === '' ? '' : RESET;
    let done = 0;
    for (const { from, to } of ranges) {
      const start = Math.max(done, from - at);
      const end = Math.min(piece.length, to - at);
      if (start >= end) continue;
      drawn += `${piece.slice(done, start)}${reset}${paint(piece.slice(start, end))}${colors}`;
      done = end;
    }
    drawn += piece.slice(done);
    at += piece.length;
  }
  return drawn;
}
