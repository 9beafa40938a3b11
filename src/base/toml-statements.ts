import { isJsonObject } from './json.ts';

/** A key or table of a TOML document and the line on which its statement begins, counted from 1. */
export interface KeyLine {
  readonly path: readonly string[];
  readonly line: number;
}

/**
 * Matches strings, comments, line ends, brackets, and runs of anything else: the part of the grammar that is needed
 * to find the end of a statement. The TOML parser handles the rest.
 */
const TOKENS =
  /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|\n|[[\]{}]|[^\n"'#[\]{}]+/g;

/**
 * Yields every key of a valid document with its line. The parser that read the document gives values without
 * positions, so each statement is parsed once more on its own.
 */
export function* locateKeys(
  document: string,
  parse: (text: string) => unknown,
): Generator<KeyLine, void, undefined> {
  let table: readonly string[] = [];
  for (const { text, line } of splitStatements(document)) {
    const paths = keyPaths(parse(text));
    if (text.startsWith('[')) {
      table = paths.at(-1) ?? [];
      yield { path: table, line };
    } else {
      for (const path of paths) yield { path: [...table, ...path], line };
    }
  }
}

/** A statement of a TOML document: the heading of a table, or a key with its value. */
export interface TomlStatement {
  /** The statement without its comments. */
  readonly text: string;
  /** The line on which it begins, counted from 1. */
  readonly line: number;
  /** The position of its first character in the document. */
  readonly start: number;
  /** The position after its last character. A comment after it does not belong to it. */
  readonly end: number;
}

/** Splits a valid document into its statements. */
export function splitStatements(document: string): readonly TomlStatement[] {
  const found: TomlStatement[] = [];
  let line = 1;
  let depth = 0;
  let text = '';
  let first = { line: 1, start: 0 };
  let end = 0;
  const finish = (): void => {
    if (text.trim() !== '') found.push({ text: text.trim(), ...first, end });
    text = '';
  };
  for (const { 0: token, index } of document.matchAll(TOKENS)) {
    if (text.trim() === '') first = { line, start: index + countBlanks(token) };
    if (token === '\n' && depth === 0) finish();
    else if (!token.startsWith('#')) {
      if (token === '[' || token === '{') depth += 1;
      else if (token === ']' || token === '}') depth -= 1;
      text += token;
      if (token.trim() !== '') end = index + token.trimEnd().length;
    }
    line += countNewlines(token);
  }
  finish();
  return found;
}

function countBlanks(token: string): number {
  return token.length - token.trimStart().length;
}

function countNewlines(token: string): number {
  return token.split('\n').length - 1;
}

/** Returns the path of each key and table in a parsed value, outer before inner. Arrays count as values. */
export function keyPaths(
  value: unknown,
  base: readonly string[] = [],
): readonly (readonly string[])[] {
  if (!isTomlTable(value)) return [];
  const found: (readonly string[])[] = [];
  for (const [name, inner] of Object.entries(value)) {
    const path = [...base, name];
    found.push(path, ...keyPaths(inner, path));
  }
  return found;
}

/** Tells whether a value is a TOML table: not an array and not a date. */
export function isTomlTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value) && !(value instanceof Date);
}
