import { findElement, shortText, PageElement } from './element.ts';

/** A cell of a table, with the columns and rows that it covers. */
interface Cell {
  readonly element: PageElement;
  readonly columns: number;
  readonly rows: number;
}

/** A table as rows of equal length. A place that no cell covers is null. */
export interface Grid {
  readonly caption: PageElement | null;
  /** The number of rows at the start that are headings. */
  readonly headerRows: number;
  readonly rows: readonly (readonly GridPlace[])[];
}

/** A place of a grid. */
export type GridPlace = {
  readonly cell: PageElement;
  /** True if the cell begins here, and does not only reach to here from the left or from above. */
  readonly isStart: boolean;
  /** True if the cell reaches to here from above. */
  readonly isBelow: boolean;
} | null;

/** The largest number of columns. More would only be noise, and spans could make a small page very large. */
const MAX_COLUMNS = 64;
/** The largest number of rows that a cell covers. */
const MAX_ROW_SPAN = 200;

/** Reads a table. */
export function readGrid(table: PageElement): Grid {
  const rows = rowsOf(table);
  const grid: GridPlace[][] = [];
  /** For each column, the cell that reaches down into the next rows, and the number of those rows. */
  const reaching: ({ cell: PageElement; left: number } | undefined)[] = [];
  for (const { cells } of rows) {
    const places: GridPlace[] = [];
    const fillFromAbove = (): void => {
      for (;;) {
        const above = reaching[places.length];
        if (above === undefined || above.left === 0) return;
        above.left -= 1;
        places.push({ cell: above.cell, isStart: false, isBelow: true });
      }
    };
    for (const { element, columns, rows: span } of cells) {
      fillFromAbove();
      for (let index = 0; index < columns && places.length < MAX_COLUMNS; index += 1) {
        reaching[places.length] = { cell: element, left: span - 1 };
        places.push({ cell: element, isStart: index === 0, isBelow: false });
      }
    }
    fillFromAbove();
    grid.push(places);
  }
  const width = Math.max(0, ...grid.slice(0, 100_000).map(({ length }) => length));
  for (const places of grid) while (places.length < width) places.push(null);
  const caption = table.elements.find(({ name }) => name === 'caption') ?? null;
  return { caption, headerRows: countHeaderRows(rows), rows: grid };
}

interface Row {
  readonly cells: readonly Cell[];
  readonly inHead: boolean;
}

function rowsOf(table: PageElement): readonly Row[] {
  const rows: Row[] = [];
  const read = (parent: PageElement, inHead: boolean): void => {
    for (const child of parent.elements) {
      if (child.name === 'tr') {
        const cells = child.elements
          .filter(({ name }) => name === 'td' || name === 'th')
          .map(readCell);
        if (cells.length > 0) rows.push({ cells, inHead });
      } else if (/^t(?:head|body|foot)$/.test(child.name)) read(child, child.name === 'thead');
    }
  };
  read(table, false);
  return rows;
}

function readCell(element: PageElement): Cell {
  return {
    element,
    columns: readSpan(element.attribute('colspan'), MAX_COLUMNS),
    rows: readSpan(element.attribute('rowspan'), MAX_ROW_SPAN),
  };
}

function readSpan(value: string, most: number): number {
  const span = /^\s*\d{1,5}/.exec(value)?.[0];
  return Math.min(Math.max(Number(span ?? 1), 1), most);
}

function countHeaderRows(rows: readonly Row[]): number {
  const inHead = rows.findIndex(({ inHead: each }) => !each);
  const head = inHead < 0 ? rows.length : inHead;
  if (head > 0) return head < rows.length ? Math.min(head, 4) : 1;
  const isHeader = ({ cells }: Row): boolean =>
    cells.length > 1 && cells.every(({ element }) => element.name === 'th');
  const first = rows.findIndex((row) => !isHeader(row));
  // A table of nothing but headings has a row of headings and others.
  return Math.min(first < 0 ? 1 : first, 2);
}

/** Tests whether a table only arranges the parts of a page, so that its cells are read one after the other. */
export function isLayout(table: PageElement, { rows, headerRows, caption }: Grid): boolean {
  const role = table.attribute('role');
  if (role === 'presentation' || role === 'none') return true;
  const width = rows[0]?.length ?? 0;
  if (rows.length === 0 || width === 0) return true;
  const hasHeaders =
    headerRows > 0 || caption !== null || findElement(table, ({ name }) => name === 'th') !== null;
  if (hasHeaders) return width === 1 && rows.length === 1;
  if (width === 1) return true;
  if (
    rows.length === 1 &&
    (width > 6 ||
      shortText(table, 1000).length > 1000 ||
      rows[0]?.some((place) => place?.cell.hasBlocks))
  ) {
    return true;
  }
  const isBig = ({ name }: PageElement): boolean =>
    /^(?:table|h[1-6]|form|article|section|main|nav)$/.test(name);
  return findElement(table, isBig) !== null;
}

/** Returns the delimiters of the columns in markdown, with the alignment of their first cells. */
export function delimiters({ rows, headerRows }: Grid): readonly string[] {
  const [body, header] = [rows[headerRows], rows[headerRows - 1]];
  const width = rows[0]?.length ?? 0;
  return Array.from({ length: width }, (_, column) => {
    const alignment = alignmentOf(body?.[column]?.cell) || alignmentOf(header?.[column]?.cell);
    return { left: ':--', center: ':-:', right: '--:' }[alignment] ?? '---';
  });
}

function alignmentOf(cell: PageElement | undefined): string {
  if (cell === undefined) return '';
  const style = /(?:^|;)\s*text-align\s*:\s*(left|center|right)/i.exec(
    cell.attribute('style'),
  )?.[1];
  const byClass = /(?:^|\s|-)(?:text|align)-?(left|center|right)(?:$|\s)/i.exec(
    cell.attribute('class'),
  )?.[1];
  return (style ?? (cell.attribute('align') || byClass) ?? '').toLowerCase();
}
