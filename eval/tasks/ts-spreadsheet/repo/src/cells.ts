/** The position of a cell, from 0. */
export interface Position {
  readonly column: number;
  readonly row: number;
}

/** Reads the name of a cell; null if it is none. */
export function parseCell(name: string): Position | null {
  const match = /^([A-Z])([0-9])$/.exec(name);
  if (match === null) return null;
  return { column: match[1].charCodeAt(0) - 65, row: Number(match[2]) - 1 };
}
