import { errorMessage } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { jsonStringEnd, memberSpans, rootStart } from '../../base/json-spans.ts';
import {
  collectFields,
  normalizeText,
  unreadableFile,
  type FileFields,
  type LocatedKey,
} from './fields.ts';
import { parseStrict } from './strict-yaml.ts';

type JsoncResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** The maximum depth of nested values. Real settings files are never nested this deep. */
const MAX_DEPTH = 64;
/** The maximum number of values and punctuation marks. Reading this many does not delay the start. */
const MAX_PARTS = 100_000;

/**
 * Parses JSON with comments and with commas before a closing bracket. The lines and columns in error messages are those
 * of the text. The time is proportional to the length of the text, whatever its content.
 */
export function parseJsonc(text: string): JsoncResult {
  const plain = toPlainJson(text.startsWith('\uFEFF') ? text.slice(1) : text);
  if (!plain.ok) return plain;
  try {
    const value: unknown = JSON.parse(plain.value);
    return { ok: true, value };
  } catch (error) {
    // JSON.parse throws only for invalid JSON.
    return { ok: false, message: errorMessage(error) };
  }
}

/** Replaces comments and extra commas by spaces. */
function toPlainJson(
  text: string,
):
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string } {
  const parts: string[] = [];
  let depth = 0;
  let count = 0;
  /** The index in `parts` of a comma that only spaces have followed so far. */
  let comma = -1;
  for (let at = 0; at < text.length;) {
    const end = findTokenEnd(text, at);
    const token = text.slice(at, end);
    const isBlank = /^(?:\s|\/[/*])/.test(token);
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') {
      depth -= 1;
      if (comma >= 0) parts[comma] = ' ';
    }
    if (!isBlank) {
      comma = token === ',' ? parts.length : -1;
      count += 1;
    }
    if (depth > MAX_DEPTH) return createFailure(`values nested more than ${MAX_DEPTH} deep`);
    if (count > MAX_PARTS)
      return createFailure(`more than ${MAX_PARTS} values and punctuation marks`);
    parts.push(isBlank ? token.replaceAll(/[^\n]/g, ' ') : token);
    at = end;
  }
  return { ok: true, value: parts.join('') };
}

function createFailure(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

/**
 * Returns the end of the token at a position: a string, a comment, a punctuation mark, or a run of spaces or of other
 * characters.
 */
function findTokenEnd(text: string, at: number): number {
  const char = text[at];
  if (char === '"') return jsonStringEnd(text, at);
  if (char === '/' && text[at + 1] === '/') return findEnd(text, '\n', at);
  if (char === '/' && text[at + 1] === '*') {
    const close = text.indexOf('*/', at + 2);
    return close < 0 ? text.length : close + 2;
  }
  const run = /\s/.test(char ?? '') ? /\s+/y : /[^\s"{}[\],:/]+/y;
  run.lastIndex = at;
  return at + (run.exec(text)?.[0].length ?? 1);
}

function findEnd(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end;
}

/**
 * Reads the top-level fields of a JSON file with their lines. A text that is not valid JSON but valid YAML (which
 * allows an extra comma or missing quotation marks) is read as YAML, with a warning. Never throws.
 */
export async function parseJsonFields(text: string): Promise<FileFields> {
  const json = normalizeText(text);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The YAML reader gives a better description of the mistake.
    return readAsYaml(json);
  }
  if (!isJsonObject(value)) return unreadableFile('invalid-json', 'It holds no JSON object.');
  const object = value;
  const keys = locateKeys(json).filter(({ key }) => key !== '__proto__');
  try {
    return { ok: true, ...collectFields(keys, (key) => object[key]) };
  } catch (error) {
    // The file has too many values, or its values are nested too deep.
    return unreadableFile('invalid-json', `It cannot be read: ${errorMessage(error)}.`);
  }
}

async function readAsYaml(json: string): Promise<FileFields> {
  const read = await parseStrict(json, 1);
  if (!read.ok) return createInvalidFile(read);
  if (read.fields.size === 0) return unreadableFile('invalid-json', 'It holds no JSON object.');
  const message =
    'It is not valid JSON; it was read as YAML. Correct it: other programs refuse it.';
  return {
    ok: true,
    fields: read.fields,
    problems: [{ code: 'invalid-json', message }, ...read.problems],
  };
}

function createInvalidFile({
  message,
  line,
}: {
  readonly message: string;
  readonly line: number;
}): FileFields {
  return unreadableFile(
    'invalid-json',
    `It is not valid JSON at line ${line}: ${message}. Correct it.`,
    line,
  );
}

/** Returns the keys of the top-level object of a valid JSON text, with their lines. */
function locateKeys(json: string): readonly LocatedKey[] {
  let line = 1;
  let at = 0;
  return memberSpans(json, rootStart(json)).map(({ name, nameStart }) => {
    line += json.slice(at, nameStart).split('\n').length - 1;
    at = nameStart;
    return { key: name, line };
  });
}
