import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { errorMessage } from '../base/errors.ts';
import { collapseWhitespace, truncate } from '../base/text.ts';
import type { FormatOutcome, LanguageCall } from '../protocol/languages.ts';
import { findInstalledProgram, listDirectoriesUp, type ProgramSearch } from './find-server.ts';
import { FORMATTERS, type FormatterRow } from './formatter-table.ts';
import { runProgram } from './run-program.ts';
import type { StartProgram } from './start-program.ts';

/** The maximum size of a settings file that is searched for a table of settings, and of a formatted file. */
const MAX_SETTINGS_BYTES = 256 * 1024;
const MAX_FORMATTED_LENGTH = 1024 * 1024;
const MAX_QUOTED_LENGTH = 200;
/** The edition of Rust if no manifest names one. */
const DEFAULT_EDITION = '2021';

/** The parts with which files are formatted. */
export interface FormatterParts {
  readonly search: ProgramSearch;
  readonly start: StartProgram;
  readonly formatSeconds: number;
}

/** Formats the content of a file as the settings of its project say. Returns null if nothing is to be changed. */
export async function formatText(
  { path, text }: { readonly path: string; readonly text: string },
  { roots, signal }: LanguageCall,
  { search, start, formatSeconds }: FormatterParts,
): Promise<FormatOutcome | null> {
  if (text.length > MAX_FORMATTED_LENGTH) return null;
  const found = findFormatter(path, roots, search);
  if (found === null) return null;
  const { row, file } = found;
  const cwd = dirname(path);
  const edition = row.args.includes('{edition}') ? findEdition(cwd, roots) : '';
  const args = row.args.map((arg) =>
    arg.replace('{edition}', edition).replace('{file}', () => path),
  );
  const stop = AbortSignal.any([signal, AbortSignal.timeout(formatSeconds * 1000)]);
  try {
    const end = await runProgram(
      start,
      { argv: [file, ...args] as const, cwd, roots, access: 'read-only' as const, input: text },
      stop,
    );
    if (end.hasSucceeded) {
      const isEmptied = end.stdout === '' && text.trim() !== '';
      return end.stdout === text || isEmptied ? null : { by: row.program, text: end.stdout };
    }
    const reason = truncate(collapseWhitespace(end.stderr), MAX_QUOTED_LENGTH);
    return { by: row.program, problem: reason === '' ? `it ${end.how}` : reason };
  } catch (thrown) {
    if (signal.aborted) return null;
    const problem = stop.aborted
      ? `it did not end within code.format_seconds = ${formatSeconds}`
      : errorMessage(thrown);
    return { by: row.program, problem };
  }
}

function findFormatter(
  path: string,
  roots: readonly string[],
  search: ProgramSearch,
): { readonly row: FormatterRow; readonly file: string } | null {
  const ending = extname(path).toLowerCase();
  const directory = dirname(path);
  const directories = listDirectoriesUp(directory, roots);
  for (const row of FORMATTERS) {
    if (!row.endings.includes(ending)) continue;
    if (row.runsProjectCode === true && !search.trustsProject) continue;
    if (!directories.some((each) => hasSettings(each, row))) continue;
    const file = findInstalledProgram(row.program, { directory, roots }, search);
    if (file !== undefined) return { row, file };
  }
  return null;
}

function hasSettings(directory: string, { settingsFiles, settingsIn }: FormatterRow): boolean {
  if (settingsFiles.some((name) => existsSync(join(directory, name)))) return true;
  if (settingsIn === undefined) return false;
  const text = readSmallFile(join(directory, settingsIn.file));
  return text.split('\n').some((line) => line.trimStart().startsWith(settingsIn.text));
}

/** Finds the edition of Rust in the nearest manifest. */
function findEdition(directory: string, roots: readonly string[]): string {
  for (const each of listDirectoriesUp(directory, roots)) {
    const edition = /^edition *= *"(20\d\d)"/m.exec(readSmallFile(join(each, 'Cargo.toml')));
    if (edition?.[1] !== undefined) return edition[1];
  }
  return DEFAULT_EDITION;
}

/** Reads a small regular file. Returns an empty text if there is none. */
function readSmallFile(path: string): string {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= MAX_SETTINGS_BYTES ? readFileSync(path, 'utf8') : '';
  } catch {
    // There is no such file, or it cannot be read: it holds no settings.
    return '';
  }
}
