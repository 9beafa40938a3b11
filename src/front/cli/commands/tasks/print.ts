import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemErrorCode } from '../../../../base/errors.ts';
import { printable } from '../../../../base/printable.ts';

/** Lines for a person, safe to print whatever they quote. */
export function printLines(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** A list, one row a line: of thousands, indenting alone would take its time. */
export function printJsonRows(rows: readonly unknown[]): void {
  const lines = rows.map((row) => JSON.stringify(row)).join(',\n');
  process.stdout.write(lines === '' ? '[]\n' : `[\n${lines}\n]\n`);
}

/** As fast as stdout takes them, and no faster. That nobody reads on ends it and is no error. */
export async function printPieces(pieces: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(pieces), process.stdout, { end: false });
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EPIPE') throw thrown;
  }
}
