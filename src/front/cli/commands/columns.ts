/** Longer cells push the rest of their line to the right, instead of the whole column. */
const WIDEST = 40;
const GAP = '  ';

/** Rows of cells as lines with aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      if (cell.length <= WIDEST) widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  return rows
    .map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(GAP))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
