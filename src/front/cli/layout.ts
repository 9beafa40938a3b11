import { sanitizeLine } from '../../base/terminal-text.ts';

/** A name and its value. Each text of a list gets a line; null, undefined and an empty list get no line. */
export type Fact = readonly [name: string, value: string | readonly string[] | null | undefined];

/** Returns a name and a safe text for each line of the facts. */
export function factRows(facts: readonly Fact[]): readonly (readonly [string, string])[] {
  return facts.flatMap(([name, value]) =>
    [value ?? []].flat().map((text) => [name, sanitizeLine(text)] as const),
  );
}

/** Lays out one line for each text of the facts, with aligned values. A name is written only on its first line. */
export function factLines(facts: readonly Fact[]): string {
  const rows = factRows(facts);
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows
    .map(([name, text], index) => {
      const shown = rows[index - 1]?.[0] === name ? '' : name;
      return `${shown.padEnd(width)}${text}\n`;
    })
    .join('');
}

/** The maximum width of an aligned column. A longer cell shifts only the rest of its own line to the right. */
const MAX_ALIGNED_WIDTH = 40;
const GAP = '  ';

/** Lays out rows of cells as lines with aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      if (cell.length <= MAX_ALIGNED_WIDTH)
        widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  return rows
    .map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(GAP))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
