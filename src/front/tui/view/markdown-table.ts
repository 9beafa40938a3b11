import type { Tokens } from 'marked';
import { visibleWidth, wrapText } from './fit.ts';
import { inlineText, type InlineStyle } from './markdown-inline.ts';

type Align = Tokens.Table['align'][number];

const BETWEEN = ' │ ';
/** The minimum width of a column whose cells are wrapped. If even that does not fit, the table is drawn as a list. */
const MIN_COLUMN = 5;

/** Draws a table with one rule, below its header. Long cells are wrapped. */
export function tableLines(
  { header, rows, align }: Tokens.Table,
  style: InlineStyle & { readonly width: number },
): readonly string[] {
  const { pen, width } = style;
  const names = header.map(({ tokens }) => inlineText(tokens, { ...style, role: 'strong' }));
  const cells = rows.map((row) => row.map(({ tokens }) => inlineText(tokens, style)));
  const natural = names.map((name, column) =>
    Math.max(1, visibleWidth(name), ...cells.map((row) => visibleWidth(row[column] ?? ''))),
  );
  const widths = fittingWidths(natural, width - BETWEEN.length * (names.length - 1));
  if (widths === null) return listedRows(names, cells, width);
  const between = pen.paint('dim', BETWEEN);
  const draw = (row: readonly string[]) => rowLines(row, widths, align, between);
  const rule = pen.paint('dim', widths.map((each) => '─'.repeat(each)).join('─┼─'));
  return [...draw(names), rule, ...cells.flatMap(draw)];
}

/** Narrows the widest columns until all fit into the room. Returns null if they cannot fit. */
function fittingWidths(natural: readonly number[], room: number): readonly number[] | null {
  const sum = (list: readonly number[]) => list.reduce((all, each) => all + each, 0);
  if (sum(natural) <= room) return natural;
  let limit = Math.max(...natural);
  const narrowed = () => natural.map((each) => Math.min(each, limit));
  while (limit >= MIN_COLUMN && sum(narrowed()) > room) limit -= 1;
  if (limit < MIN_COLUMN) return null;
  let rest = room - sum(narrowed());
  return narrowed().map((each, column) => {
    const isNarrowed = each < (natural[column] ?? 0) && rest > 0;
    if (isNarrowed) rest -= 1;
    return isNarrowed ? each + 1 : each;
  });
}

function rowLines(
  row: readonly string[],
  widths: readonly number[],
  align: readonly Align[],
  between: string,
): readonly string[] {
  const wrapped = widths.map((width, column) => wrapText(row[column] ?? '', width, ''));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    widths
      .map((width, column) => aligned(wrapped[column]?.[line] ?? '', width, align[column] ?? null))
      .join(between),
  );
}

function aligned(text: string, width: number, align: Align): string {
  const room = Math.max(0, width - visibleWidth(text));
  const before = align === 'right' ? room : align === 'center' ? Math.floor(room / 2) : 0;
  return `${' '.repeat(before)}${text}${' '.repeat(room - before)}`;
}

/** Draws each row of a table as lines with the name of the column and the cell. */
function listedRows(
  names: readonly string[],
  cells: readonly (readonly string[])[],
  width: number,
): readonly string[] {
  return cells.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...names.flatMap((name, column) => wrapText(`${name}: ${row[column] ?? ''}`, width, '')),
  ]);
}
