import type { Pen } from './pen.ts';

// oxlint-disable-next-line no-control-regex -- colours, as the pen writes them
const COLOUR = /\u001b\[[\d;]*m/g;
/** With what stands between them. */
const COLOURS_KEPT = new RegExp(`(${COLOUR.source})`);
const RESET = '\u001b[0m';

/** A part of a line, in UTF-16 units without the colours. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Drawn lines with all that is found in them marked; `here`: the line that was gone to; null: none. */
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

/** Lines in which something that is found begins. */
export function matchedLines(lines: readonly string[], pattern: RegExp): readonly number[] {
  const starts = lineStarts(lines.map(uncoloured));
  const begun = [...joined(lines).matchAll(pattern)].map(({ index }) => lineAt(starts, index));
  return [...new Set(begun)];
}

/** Of each line. What is found may begin on one line and end on another. */
function matchedRanges(lines: readonly string[], pattern: RegExp): readonly (readonly Range[])[] {
  const plain = lines.map(uncoloured);
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

function joined(lines: readonly string[]): string {
  return lines.map(uncoloured).join('\n');
}

function uncoloured(line: string): string {
  return line.replaceAll(COLOUR, '');
}

/** Where each line begins in all of them. */
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

/** The line with its ranges painted anew; what stands between them keeps its colours. */
function marked(line: string, ranges: readonly Range[], paint: (text: string) => string): string {
  let drawn = '';
  let at = 0;
  let colours = '';
  for (const piece of line.split(COLOURS_KEPT)) {
    if (piece.startsWith('\u001b[')) {
      colours = piece === RESET ? '' : colours + piece;
      drawn += piece;
      continue;
    }
    drawn += markedPiece(piece, { at, ranges, colours, paint });
    at += piece.length;
  }
  return drawn;
}

function markedPiece(
  piece: string,
  {
    at,
    ranges,
    colours,
    paint,
  }: {
    readonly at: number;
    readonly ranges: readonly Range[];
    readonly colours: string;
    readonly paint: (text: string) => string;
  },
): string {
  let drawn = '';
  let done = 0;
  for (const { from, to } of ranges) {
    const start = Math.max(done, from - at);
    const end = Math.min(piece.length, to - at);
    if (start >= end) continue;
    const reset = colours === '' ? '' : RESET;
    drawn += `${piece.slice(done, start)}${reset}${paint(piece.slice(start, end))}${colours}`;
    done = end;
  }
  return drawn + piece.slice(done);
}
