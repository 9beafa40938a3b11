/** A cell of a terminal, as it is to be seen. */
export interface Cell {
  /** A character with what combines with it; empty: the second half of a wide one. */
  readonly text: string;
  /** 0 to 15; null: the terminal's own. */
  readonly foreground: number | null;
  readonly background: number | null;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isInverse: boolean;
}

export interface Palette {
  readonly foreground: string;
  readonly background: string;
  /** The 16 colours of a terminal, the 8 bright ones last. */
  readonly colours: readonly string[];
}

export const DARK_PALETTE: Palette = {
  foreground: '#d4d7dd',
  background: '#16181d',
  colours: [
    '#2b2f37',
    '#e5646e',
    '#8fc27a',
    '#ddb566',
    '#6ba4e7',
    '#c184dd',
    '#5bb8c4',
    '#c5c9d1',
    '#6b7280',
    '#f08088',
    '#a9d796',
    '#ecca85',
    '#8bbaf0',
    '#d3a2ea',
    '#7dcdd8',
    '#f2f4f8',
  ],
};

export const LIGHT_PALETTE: Palette = {
  foreground: '#24292f',
  background: '#ffffff',
  colours: [
    '#24292f',
    '#b3261e',
    '#1a7f37',
    '#8a6100',
    '#0550ae',
    '#8250df',
    '#1b7c83',
    '#6e7781',
    '#57606a',
    '#cf222e',
    '#2da44e',
    '#9a6700',
    '#0969da',
    '#a475f9',
    '#3192aa',
    '#8c959f',
  ],
};

const COLUMN = 8.4;
const LINE = 18;
const SIZE = 14;
const MARGIN = 14;
const DIM = 0.62;
const FONTS = "ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

/**
 * The screen as a picture: each run of cells of one look stands in its own columns, whatever font is there.
 */
export function terminalSvg(
  rows: readonly (readonly Cell[])[],
  { palette, title }: { readonly palette: Palette; readonly title: string },
): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const width = round(columns * COLUMN + 2 * MARGIN);
  const height = rows.length * LINE + 2 * MARGIN;
  const drawn = rows.flatMap((row, index) => rowParts(row, index, palette));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${palette.background}"/>`,
    `<g font-family="${FONTS}" font-size="${SIZE}" fill="${palette.foreground}">`,
    ...drawn,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

interface CellRun {
  readonly column: number;
  readonly columns: number;
  readonly text: string;
  readonly look: Cell;
}

function rowParts(row: readonly Cell[], index: number, palette: Palette): readonly string[] {
  return runsOf(row).flatMap((run) => runParts(run, MARGIN + index * LINE, palette));
}

/** `top`: of its line, in pixels. */
function runParts(run: CellRun, top: number, palette: Palette): readonly string[] {
  const { column, columns, text, look } = run;
  const { ink, paper } = coloursOf(look, palette);
  const x = round(MARGIN + column * COLUMN);
  const length = round(columns * COLUMN);
  const parts: string[] = [];
  if (paper !== null) {
    parts.push(`<rect x="${x}" y="${top}" width="${length}" height="${LINE}" fill="${paper}"/>`);
  }
  if (/^─+$/.test(text)) parts.push(lineAcross({ x, length, top, ink, look }));
  else if (text.trim() !== '') {
    const fill = ink === palette.foreground ? '' : ` fill="${ink}"`;
    const weight = look.isBold ? ' font-weight="bold"' : '';
    const opacity = look.isDim ? ` opacity="${DIM}"` : '';
    parts.push(
      `<text x="${x}" y="${top + LINE - 5}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${fill}${weight}${opacity}>${escaped(text)}</text>`,
    );
  }
  return parts;
}

/** A rule is drawn: letters of it would leave gaps in some fonts. */
function lineAcross({
  x,
  length,
  top,
  ink,
  look,
}: {
  readonly x: number;
  readonly length: number;
  readonly top: number;
  readonly ink: string;
  readonly look: Cell;
}): string {
  const opacity = look.isDim ? ` opacity="${DIM}"` : '';
  return `<rect x="${x}" y="${top + LINE / 2}" width="${length}" height="1" fill="${ink}"${opacity}/>`;
}

/** Cells side by side that look the same; blanks between words stay in their run. */
function runsOf(row: readonly Cell[]): readonly CellRun[] {
  const runs: { column: number; columns: number; text: string; look: Cell }[] = [];
  for (const [column, cell] of row.entries()) {
    const last = runs.at(-1);
    // The second half of a wide character belongs to the first.
    if (cell.text === '') {
      if (last !== undefined) last.columns += 1;
      continue;
    }
    if (
      last !== undefined &&
      isAlike(last.look, cell) &&
      isPlain(last.text) === isPlain(cell.text)
    ) {
      last.columns += 1;
      last.text += cell.text;
    } else {
      runs.push({ column, columns: 1, text: cell.text, look: cell });
    }
  }
  return runs.flatMap(words);
}

/** Several blanks in a row are drawn as one: what stands on both sides of them is placed by itself. */
function words({ column, columns, text, look }: CellRun): readonly CellRun[] {
  if (!isPlain(text) || look.isInverse || look.background !== null) {
    return [{ column, columns, text, look }];
  }
  return [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: word, index }) => ({
    column: column + index,
    columns: word.length,
    text: word,
    look,
  }));
}

/** Signs that are no letters, and wide ones, have widths of their own in many fonts: each stands by itself. */
function isPlain(text: string): boolean {
  return /^[\u0020-\u024f]+$/.test(text);
}

function isAlike(one: Cell, other: Cell): boolean {
  return (
    one.foreground === other.foreground &&
    one.background === other.background &&
    one.isBold === other.isBold &&
    one.isDim === other.isDim &&
    one.isInverse === other.isInverse
  );
}

function coloursOf(
  { foreground, background, isInverse }: Cell,
  palette: Palette,
): { readonly ink: string; readonly paper: string | null } {
  const ink = colour(foreground, palette) ?? palette.foreground;
  const paper = colour(background, palette);
  return isInverse ? { ink: paper ?? palette.background, paper: ink } : { ink, paper };
}

function colour(index: number | null, { colours }: Palette): string | null {
  return index === null ? null : (colours[index] ?? null);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
