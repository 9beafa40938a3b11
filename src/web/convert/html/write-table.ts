import type { PageElement } from './element.ts';
import { delimiters, type Grid, type GridPlace } from './table.ts';

/** A cell with a longer text is not written in a line of a table. */
const MAX_CELL_LENGTH = 2000;

/** The blocks of markdown of each cell. */
export type CellBlocks = ReadonlyMap<PageElement, readonly string[]>;

/**
 * Writes a table: as a table of markdown, or, if that cannot hold the cells, as a list of its rows.
 *
 * @param isIndented false if the text of a row is not indented, because it is nested too deeply already
 */
export function writeTableText(grid: Grid, blocks: CellBlocks, isIndented: boolean): string {
  const fits = [...blocks.values()].every(fitsInCell);
  return fits ? writeGrid(grid, blocks) : writeRecords(grid, blocks, isIndented);
}

/** Indents the lines of a text that are not empty. */
export function indent(text: string, by: string): string {
  return text.replaceAll(/^(?=[^\n])/gm, by);
}

/** Tests whether the blocks of a cell can be written on one line. */
function fitsInCell(blocks: readonly string[]): boolean {
  const length = blocks.reduce((sum, block) => sum + block.length, 0);
  return (
    length <= MAX_CELL_LENGTH && blocks.every((block) => !/^(?:```|\||#{1,6} |>|\$\$)/.test(block))
  );
}

function cellLine(blocks: readonly string[]): string {
  return blocks
    .join('\n')
    .replaceAll(/\n+\s*/g, '<br>')
    .replaceAll('|', String.raw`\|`);
}

/** Returns the text of a place. A cell that covers several rows is repeated, so that each row can be read alone. */
function placeText(place: GridPlace, blocks: CellBlocks, repeats: boolean): string {
  if (place === null) return '';
  const text = cellLine(blocks.get(place.cell) ?? []);
  if (place.isStart || (place.isBelow && text.length <= 80)) return text;
  return repeats ? text : '';
}

function writeGrid(grid: Grid, blocks: CellBlocks): string {
  const head = headings(grid, blocks);
  const body = grid.rows.slice(grid.headerRows);
  const lines = body.map((row) => row.map((place) => placeText(place, blocks, false)));
  const isUsed = head.map(
    (text, column) => text !== '' || lines.some((line) => line[column] !== ''),
  );
  const format = (texts: readonly string[]): string =>
    `|${texts.map((text, column) => formatCell(text, isUsed[column] === true)).join('')}`;
  const written = lines.filter((line) => line.some((text) => text !== '')).map(format);
  const used = isUsed.filter(Boolean).length;
  if (used === 0) return '';
  // A table for the numbers of formulas, for example, has only one column with text.
  if (used === 1 && head.every((text) => text === ''))
    return lines.flat().filter(Boolean).join('\n\n');
  return [format(head), format(delimiters(grid)), ...written].join('\n');
}

function formatCell(text: string, isUsed: boolean): string {
  if (!isUsed) return '';
  return text === '' ? ' |' : ` ${text} |`;
}

/** Returns the heading of each column: the texts of all heading rows above it. */
function headings(grid: Grid, blocks: CellBlocks): readonly string[] {
  const rows = grid.rows.slice(0, grid.headerRows);
  return (grid.rows[0] ?? []).map((_, column) => {
    const cells = new Set(rows.map((row) => row[column] ?? null));
    const texts = [...cells].map((place) =>
      place?.isBelow ? '' : placeText(place, blocks, rows.length > 1),
    );
    return texts.filter(Boolean).join(' ');
  });
}

/** Writes a table whose cells have several blocks: an entry for each row, with the heading of each column. */
function writeRecords(grid: Grid, blocks: CellBlocks, isIndented: boolean): string {
  const head = headings(grid, blocks);
  const entries = grid.rows.slice(grid.headerRows).map((row) => {
    const parts = row.flatMap((place, column) => {
      if (place === null || !place.isStart || place.isBelow) return [];
      const cell = blocks.get(place.cell) ?? [];
      if (cell.length === 0) return [];
      const label = head[column] ?? '';
      if (label === '') return [cell.join('\n\n')];
      const isLine = cell.length === 1 && !cell[0]?.includes('\n') && fitsInCell(cell);
      return [isLine ? `${label}: ${cell[0]}` : `${label}:\n\n${cell.join('\n\n')}`];
    });
    const text = parts.join('\n\n');
    if (text === '') return '';
    return isIndented ? `- ${indent(text, '  ').trimStart()}` : `- ${text}`;
  });
  return entries.filter(Boolean).join('\n');
}
