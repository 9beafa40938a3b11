import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { jsonText } from '../../../../base/json-text.ts';
import { printJson as printJsonLine, printText } from '../../../../sys/print.ts';

/** Lines for a person, safe to print whatever they quote. */
export function printLines(...lines: readonly string[]): void {
  printText(lines.map((line) => `${line}\n`).join(''));
}

/** The same for lines that hold a model's words and no paths: scripts and emoji stay as they are. */
export function printProse(...lines: readonly string[]): void {
  printText(lines.map((line) => `${line}\n`).join(''), 'prose');
}

export function printJson(value: unknown): void {
  printJsonLine(value, 2);
}

/** A list, one row a line: of thousands, indenting alone would take its time. */
export function printJsonRows(rows: readonly unknown[]): void {
  const lines = rows.map((row) => jsonText(row)).join(',\n');
  printText(lines === '' ? '[]\n' : `[\n${lines}\n]\n`);
}

/**
 * As fast as stdout takes them, and no faster. That it takes no more ends it, and is told by whoever watches the
 * output (`watchOutput`).
 */
export async function printPieces(pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  let lost: unknown = null;
  const note = (error: Error): void => void (lost = error);
  process.stdout.once('error', note);
  try {
    await pipeline(Readable.from(pieces), process.stdout, { end: false });
  } catch (thrown) {
    if (thrown !== lost) throw thrown;
  } finally {
    process.stdout.off('error', note);
  }
}
