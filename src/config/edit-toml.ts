import { isDeepStrictEqual } from 'node:util';
import {
  isTomlTable,
  keyPaths,
  splitStatements,
  type TomlStatement,
} from '../base/toml-statements.ts';

/** A key of a section, as in `[terminal]` and `detail`. Both names consist of lower-case letters and `_`. */
export interface TomlKey {
  readonly section: string;
  readonly name: string;
}

/** The value to set; undefined to remove the key. */
export type NewValue = string | number | boolean | readonly string[] | undefined;

/** The changed document, or the reason why the key has to be changed by hand. */
export type TomlEdit =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** Parses a TOML document. Throws if it is not valid. */
export type TomlParser = (text: string) => unknown;

/** A statement that sets a value, with the full path of its key. */
interface Assignment extends TomlStatement {
  readonly path: readonly string[];
  /** The path of the table below whose heading it is. */
  readonly table: readonly string[];
}

/** The statements of a document. */
interface Outline {
  readonly assignments: readonly Assignment[];
  /** The headings of the section. */
  readonly headings: readonly TomlStatement[];
}

/**
 * Sets or removes one key of a valid TOML document, and changes nothing else: comments, the order and the layout stay.
 * The result is parsed again, and is returned only if it holds the same as before except for the key.
 */
export function editToml(
  document: string,
  key: TomlKey,
  value: NewValue,
  parse: TomlParser,
): TomlEdit {
  const outline = readOutline(document, key, parse);
  const path = [key.section, key.name];
  const current = outline.assignments.find((each) => isDeepStrictEqual(each.path, path));
  const edit =
    value === undefined
      ? removeKey(document, current)
      : setKey(document, { outline, key, current, value: formatTomlValue(value) });
  if (!edit.ok) return edit;
  if (isSameExcept(parse, [document, edit.text], key, value)) return edit;
  return { ok: false, problem: 'its layout is not one that can be changed safely' };
}

/** Returns whether the second document holds what the first one does, with the new value of the key. */
function isSameExcept(
  parse: TomlParser,
  [before, after]: readonly [string, string],
  { section, name }: TomlKey,
  value: NewValue,
): boolean {
  const [was, is] = [parse(before), tryToParse(after, parse)];
  if (!isTomlTable(was) || !isTomlTable(is)) return false;
  const split = (document: Readonly<Record<string, unknown>>) => {
    const { [section]: table = {}, ...others } = document;
    if (!isTomlTable(table)) return null;
    const { [name]: found, ...rest } = table;
    return { found, others, rest };
  };
  const [old, changed] = [split(was), split(is)];
  if (old === null || changed === null) return false;
  const { others, rest } = changed;
  return (
    isDeepStrictEqual(changed.found, value) &&
    isDeepStrictEqual({ others, rest }, { others: old.others, rest: old.rest })
  );
}

/** Parses a changed document. Returns undefined if the change has made it invalid. */
function tryToParse(text: string, parse: TomlParser): unknown {
  try {
    return parse(text);
  } catch {
    // The caller refuses the change.
    return undefined;
  }
}

function readOutline(document: string, { section }: TomlKey, parse: TomlParser): Outline {
  const assignments: Assignment[] = [];
  const headings: TomlStatement[] = [];
  let table: readonly string[] = [];
  for (const statement of splitStatements(document)) {
    if (statement.text.startsWith('[')) {
      table = keyPaths(parse(statement.text)).at(-1) ?? [];
      if (isDeepStrictEqual(table, [section])) headings.push(statement);
    } else {
      const key = keyPaths(parse(`${keyText(statement.text)}= 0`)).at(-1) ?? [];
      assignments.push({ ...statement, path: [...table, ...key], table });
    }
  }
  return { assignments, headings };
}

/** Matches the key of a statement, which may contain quoted parts, and the blanks after it. */
const KEY = /^(?:"(?:\\.|[^"\\])*"|'[^']*'|[^"'=])*/;

function keyText(statement: string): string {
  return KEY.exec(statement)?.[0] ?? '';
}

interface Setting {
  readonly outline: Outline;
  readonly key: TomlKey;
  /** The statement that sets the key; undefined if none does. */
  readonly current: Assignment | undefined;
  /** The formatted value. */
  readonly value: string;
}

function setKey(document: string, { outline, key, current, value }: Setting): TomlEdit {
  if (current !== undefined) {
    const after = document.slice(current.start + keyText(current.text).length + 1);
    const start = document.length - after.trimStart().length;
    // A list on several lines may have comments between its items.
    if (hasComment(document.slice(start, current.end))) {
      return { ok: false, problem: 'its value contains comments' };
    }
    return { ok: true, text: document.slice(0, start) + value + document.slice(current.end) };
  }
  const { assignments, headings } = outline;
  const { section, name } = key;
  const heading = headings.at(-1);
  if (heading !== undefined) {
    const last = assignments.findLast(({ table }) => isDeepStrictEqual(table, [section]));
    return addLine(document, last ?? heading, `${name} = ${value}`, last !== undefined);
  }
  // A table that is written with dotted keys cannot have a heading, too.
  const dotted = assignments.findLast(
    ({ table, path }) => table.length === 0 && path[0] === section,
  );
  if (dotted !== undefined) {
    if (dotted.path.length < 2) return { ok: false, problem: `${section} is an inline table` };
    return addLine(document, dotted, `${section}.${name} = ${value}`, true);
  }
  const newline = newlineOf(document);
  const text = `[${section}]${newline}${name} = ${value}${newline}`;
  if (document.trim() === '') return { ok: true, text: `${document}${text}` };
  const gap = document.endsWith('\n') ? newline : newline + newline;
  return { ok: true, text: `${document}${gap}${text}` };
}

/** Adds a line below a statement, with the same indentation if `isIndented` is set. */
function addLine(
  document: string,
  { start, end }: TomlStatement,
  line: string,
  isIndented: boolean,
): TomlEdit {
  const newline = newlineOf(document);
  const indentation = isIndented ? document.slice(lineStart(document, start), start) : '';
  const lineEnd = document.indexOf('\n', end);
  const text =
    lineEnd === -1
      ? `${document}${newline}${indentation}${line}${newline}`
      : `${document.slice(0, lineEnd + 1)}${indentation}${line}${newline}${document.slice(lineEnd + 1)}`;
  return { ok: true, text };
}

/** Removes the line of a key. A comment at its end stays. */
function removeKey(document: string, current: Assignment | undefined): TomlEdit {
  if (current === undefined) return { ok: true, text: document };
  const { start, end } = current;
  if (hasComment(document.slice(start, end))) {
    return { ok: false, problem: 'its value contains comments' };
  }
  const rest = document.slice(end);
  const blanks = /^[^\S\n]*/.exec(rest)?.[0].length ?? 0;
  if (rest[blanks] === '#') {
    return { ok: true, text: document.slice(0, start) + rest.slice(blanks) };
  }
  const after = rest.slice(blanks).replace(/^\n/, '');
  return { ok: true, text: document.slice(0, lineStart(document, start)) + after };
}

function lineStart(document: string, position: number): number {
  return document.lastIndexOf('\n', position - 1) + 1;
}

function newlineOf(document: string): string {
  return document.includes('\r\n') ? '\r\n' : '\n';
}

/** Whether a part of a valid document contains a comment. */
function hasComment(part: string): boolean {
  return splitStatements(part).some(({ text }) => text.length < part.trim().length);
}

/** Formats a value in TOML. */
export function formatTomlValue(value: Exclude<NewValue, undefined>): string {
  if (typeof value === 'string') return formatTomlString(value);
  if (typeof value === 'object') return `[${value.map(formatTomlString).join(', ')}]`;
  return String(value);
}

/** Formats a basic string. TOML has the escapes of JSON, and requires one more. */
export function formatTomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', String.raw`\u007f`);
}
