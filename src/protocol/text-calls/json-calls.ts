import { isJsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';

/** The calls that a parser has read, and the index of the first character after them. */
export interface ParsedCalls {
  readonly end: number;
  /** The names of the called tools, as in the text. */
  readonly names: readonly string[];
}

/** Matches brackets and strings. A quotation mark alone is the beginning of a string without an end. */
const SYNTAX = /[{}[\]]|"(?:[^"\\]|\\[^])*"|"/g;
const OPENING: ReadonlySet<string> = new Set(['{', '[']);
const CLOSING: ReadonlySet<string> = new Set(['}', ']']);

/** The keys under which models write the arguments of a call. */
const ARGUMENT_KEYS: ReadonlySet<string> = new Set(['arguments', 'parameters', 'input', 'args']);
/** The keys that only identify a call. */
const LABEL_KEYS: ReadonlySet<string> = new Set(['id', 'type', 'index', 'tool_call_id']);
// Raw control characters are not valid in JSON, but models write unescaped line breaks into strings.
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u001f]/g;
const BEGINS_OBJECT = /\{\s*["}]/y;
const BEGINS_LIST = /\[\s*\{/y;
const SEPARATOR = /[\s,;]*/y;
const SPACE = /\s*/y;

/**
 * Reads the JSON object at `start`. Returns null if there is no object, or if it is incomplete. `value` is undefined if the
 * text between the braces is not JSON.
 */
export function readJsonObject(
  text: string,
  start: number,
): { readonly value: unknown; readonly end: number } | null {
  return matches(BEGINS_OBJECT, text, start) ? readJson(text, start) : null;
}

/**
 * Reads calls that are written as JSON at `start`: a list of objects, or several objects one after the other. Objects that
 * are not calls are skipped. `fields`: `any` if a marker before the JSON shows that it is a call; `call only` if an object
 * must have exactly the fields of a call, because nothing else distinguishes it from data.
 */
export function readJsonCalls(
  text: string,
  start: number,
  fields: 'any' | 'call only',
): ParsedCalls | null {
  if (fields === 'any' && matches(BEGINS_LIST, text, start)) {
    const list = readJson(text, start);
    if (list === null || !Array.isArray(list.value)) return null;
    return { end: list.end, names: list.value.flatMap((each) => collectNames(each, fields)) };
  }
  const names: string[] = [];
  let end = -1;
  for (let at = start; ;) {
    const object = readJsonObject(text, at);
    if (object === null) break;
    names.push(...collectNames(object.value, fields));
    end = object.end;
    at = skipSeparators(text, end);
  }
  return end === -1 ? null : { end, names };
}

/** Returns the index after the white space, commas and semicolons that begin at `at`. */
export function skipSeparators(text: string, at: number): number {
  return matches(SEPARATOR, text, at) ? SEPARATOR.lastIndex : at;
}

/** Returns the index after the white space that begins at `at`. */
export function skipSpace(text: string, at: number): number {
  return matches(SPACE, text, at) ? SPACE.lastIndex : at;
}

/** Returns true if a sticky expression matches at this index. Its `lastIndex` is then the end of the match. */
export function matches(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = at;
  return sticky.test(text);
}

function readJson(text: string, start: number): { value: unknown; end: number } | null {
  const end = findEndOfJson(text, start);
  return end === null ? null : { value: parseJson(text.slice(start, end)), end };
}

/** Returns the index after the bracket that closes the bracket at `start`; null: it is never closed. */
function findEndOfJson(text: string, start: number): number | null {
  let depth = 0;
  SYNTAX.lastIndex = start;
  for (let found = SYNTAX.exec(text); found !== null; found = SYNTAX.exec(text)) {
    const [token] = found;
    if (OPENING.has(token)) {
      depth += 1;
    } else if (CLOSING.has(token)) {
      depth -= 1;
      if (depth === 0) return SYNTAX.lastIndex;
    } else if (token === '"') {
      // The string has no end.
      return null;
    }
  }
  return null;
}

/** Parses JSON, which may contain raw control characters; undefined for any other text, such as program code. */
function parseJson(json: string): unknown {
  return parseJsonLine(json) ?? parseJsonLine(json.replace(CONTROL_CHARACTERS, ' '));
}

function collectNames(value: unknown, fields: 'any' | 'call only'): readonly string[] {
  if (!isJsonObject(value)) return [];
  const { name, tool_name: toolName, function: nested, tool_calls: list } = value;
  if (Array.isArray(list)) return list.flatMap((each) => collectNames(each, fields));
  if (isJsonObject(nested)) return collectNames(nested, fields);
  const called = typeof name === 'string' ? name : toolName;
  if (typeof called !== 'string') return [];
  return fields === 'any' || hasCallFieldsOnly(value) ? [called] : [];
}

function hasCallFieldsOnly(value: Readonly<Record<string, unknown>>): boolean {
  const others = Object.keys(value).filter(
    (key) => key !== 'name' && key !== 'tool_name' && !LABEL_KEYS.has(key),
  );
  const [key = ''] = others;
  return others.length === 1 && ARGUMENT_KEYS.has(key) && isArguments(value[key]);
}

/** Returns true if a value can be the arguments of a call: an object, an object as JSON in a string, or nothing. */
function isArguments(value: unknown): boolean {
  if (value === null || value === '') return true;
  return isJsonObject(typeof value === 'string' ? parseJson(value) : value);
}
