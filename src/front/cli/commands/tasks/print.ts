import { toPrintableJson } from '../../../../base/printable-json.ts';
import { plural } from '../../../../base/text.ts';
import { printJson, printText } from '../../../../sys/print.ts';
import { writeNewFile, type OutputFile } from '../../new-file.ts';

/** Prints lines for a person. Control characters in them are made harmless. */
export function printLines(...lines: readonly string[]): void {
  printText(lines.map((line) => `${line}\n`).join(''));
}

/** Prints lines of prose, such as a model's text, in which all scripts and emoji stay as they are. Not for paths. */
export function printProse(...lines: readonly string[]): void {
  printText(lines.map((line) => `${line}\n`).join(''), 'prose');
}

/** Prints indented JSON. */
export function printJsonDocument(value: unknown): void {
  printJson(value, 2);
}

/** Prints a JSON array with one row on each line, because indenting thousands of rows takes too long. */
export function printJsonRows(rows: readonly unknown[]): void {
  const lines = rows.map((row) => toPrintableJson(row)).join(',\n');
  printText(lines === '' ? '[]\n' : `[\n${lines}\n]\n`);
}

/** Prints what another process reports about its task. */
export function printProcessReport(
  { id, pid, text }: { readonly id: string; readonly pid: number; readonly text: string },
  { json }: { readonly json: boolean },
): void {
  if (json) printJsonDocument({ task_id: id, pid, text });
  else printLines(text);
}

/** Writes a file about a task completely or not at all, and prints the path of the file. */
export async function writeTaskFile(
  file: OutputFile,
  pieces: AsyncIterable<string> | Iterable<string>,
  { task, json }: { readonly task: string; readonly json: boolean },
): Promise<void> {
  const { path } = file;
  const bytes = await writeNewFile(file, pieces);
  if (json) printJsonDocument({ task_id: task, file: path, bytes });
  else printLines(`task ${task} is in ${path} (${plural(bytes, 'byte')})`);
}

/**
 * Writes pieces to stdout, and asks for each piece only when stdout has room for it. If stdout can no longer be
 * written, the writing ends without an error, because `watchOutput` reports the failure.
 */
export async function printPieces(pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const { Readable } = await import('node:stream');
  const { pipeline } = await import('node:stream/promises');
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
