import type { ConfigProblem } from './setting.ts';
import { escapeLine } from './message-text.ts';
import { locateKeys } from '../base/toml-statements.ts';

const MAX_NESTING = 16;

/** A parsed configuration file that knows the line of each key. */
export interface TomlFile {
  readonly path: string;
  readonly table: Readonly<Record<string, unknown>>;
  /** Returns `FILE:LINE` of the key at this path, or the file alone if no line is known for the key. */
  where(path: readonly string[]): string;
}

export type TomlParsing =
  | { readonly ok: true; readonly file: TomlFile }
  | { readonly ok: false; readonly problem: ConfigProblem };

/**
 * Parses a text as TOML. Loads the parser at the first call, so that a start without a configuration file does not pay
 * for it.
 */
export async function parseToml(path: string, text: string): Promise<TomlParsing> {
  const shownPath = escapeLine(path);
  const { parse, TomlError } = await import('smol-toml');
  const parseOptions = { maxDepth: MAX_NESTING };
  try {
    const table = parse(text, parseOptions);
    const lines = new Map<string, number>();
    for (const { line, path: keyPath } of locateKeys(text, (part) => parse(part, parseOptions))) {
      const key = pathToText(keyPath);
      if (!lines.has(key)) lines.set(key, line);
    }
    return { ok: true, file: createTomlFile(path, shownPath, table, lines) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const where = `${shownPath}:${error.line}:${error.column}`;
    return { ok: false, problem: { where, message: `not valid TOML: ${parserMessage(error)}` } };
  }
}

/** Returns a path as a string that is unambiguous even if a name contains a separator. */
function pathToText(path: readonly string[]): string {
  return JSON.stringify(path);
}

function createTomlFile(
  path: string,
  shownPath: string,
  table: Readonly<Record<string, unknown>>,
  lines: ReadonlyMap<string, number>,
): TomlFile {
  return {
    path,
    table,
    where: (keyPath) => {
      const line = lines.get(pathToText(keyPath));
      return line === undefined ? shownPath : `${shownPath}:${line}`;
    },
  };
}

/** Returns the first line of the parser's message. The other lines quote the file, which may contain secrets. */
function parserMessage(error: Error): string {
  return escapeLine((error.message.split('\n', 1)[0] ?? '').replace('Invalid TOML document: ', ''));
}
