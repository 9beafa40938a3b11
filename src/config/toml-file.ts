import type { ConfigProblem } from './source.ts';
import { oneLine } from './quote.ts';
import { locateKeys } from '../base/toml-statements.ts';

const MAX_NESTING = 16;

/** A configuration file that was read and parsed, and in which every key knows its line. */
export interface TomlFile {
  readonly path: string;
  readonly table: Readonly<Record<string, unknown>>;
  /** `FILE:LINE` of the key at this path, or the file alone where it has no line of its own. */
  where(path: readonly string[]): string;
}

export type TomlParsing =
  | { readonly ok: true; readonly file: TomlFile }
  | { readonly ok: false; readonly problem: ConfigProblem };

/** The text of a file as TOML; the parser is loaded only when there is one. */
export async function parseToml(path: string, text: string): Promise<TomlParsing> {
  const shownPath = oneLine(path);
  const { parse, TomlError } = await import('smol-toml');
  const parseOptions = { maxDepth: MAX_NESTING };
  try {
    const table = parse(text, parseOptions);
    const lines = new Map<string, number>();
    for (const { line, path: keyPath } of locateKeys(text, (part) => parse(part, parseOptions))) {
      const key = lineKey(keyPath);
      if (!lines.has(key)) lines.set(key, line);
    }
    return { ok: true, file: tomlFile(path, shownPath, table, lines) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const where = `${shownPath}:${error.line}:${error.column}`;
    return { ok: false, problem: { where, message: `not valid TOML: ${reasonOf(error)}` } };
  }
}

/** A list that cannot be mistaken for another by a name with a separator in it. */
function lineKey(path: readonly string[]): string {
  return JSON.stringify(path);
}

function tomlFile(
  path: string,
  shownPath: string,
  table: Readonly<Record<string, unknown>>,
  lines: ReadonlyMap<string, number>,
): TomlFile {
  return {
    path,
    table,
    where: (keyPath) => {
      const line = lines.get(lineKey(keyPath));
      return line === undefined ? shownPath : `${shownPath}:${line}`;
    },
  };
}

/** The parser's message goes on with lines of the file, which may hold what no log should. */
function reasonOf(error: Error): string {
  return oneLine((error.message.split('\n', 1)[0] ?? '').replace('Invalid TOML document: ', ''));
}
