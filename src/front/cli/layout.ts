/** A name and its value, on one line. */
export type Fact = readonly [name: string, value: string];

/** Lays out one line for each fact, with aligned values; a name that repeats is left out. */
export function factLines(facts: readonly Fact[]): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  return facts
    .map(([name, value], index) => {
      const shown = facts[index - 1]?.[0] === name ? '' : name;
      return `${shown.padEnd(width)}${value}\n`;
    })
    .join('');
}

/** Longer cells push the rest of their line to the right, instead of the whole column. */
const WIDEST = 40;
const GAP = '  ';

/** Lays out rows of cells as lines with aligned columns. */
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
