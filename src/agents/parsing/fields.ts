import { dirname } from 'node:path';
import { isJsonObject, type JsonValue, type JsonObject } from '../../base/json.ts';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import { toAbsolutePath } from '../../sys/files/paths.ts';
import type { DefinitionFile, FileDefinitions, ReferencedText } from '../loader/format.ts';
import { normalizeLineEnds } from './split-front-matter.ts';

/**
 * The maximum number of characters of a message, before unsafe characters are escaped. A message may quote a text that
 * is as long as the file.
 */
const MAX_MESSAGE_LENGTH = 400;

/** Removes control characters, because they could control a terminal. Tabs and line ends are kept. */
export function removeControls(text: string): string {
  return sanitizeForTerminal(text, 'plain').replaceAll('\r', '');
}

/**
 * Makes a message that quotes a file safe to show: puts it on one line, escapes unsafe characters, and truncates it if
 * it is too long.
 */
export function toSafeMessage(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ');
  const shown = sanitizeForTerminal(truncate(line, MAX_MESSAGE_LENGTH), 'exact');
  return line.length > MAX_MESSAGE_LENGTH ? `${shown}…` : shown;
}

const MAX_DEPTH = 64;
const MAX_NODES = 100_000;

/**
 * Converts a parsed value of YAML (with maps as Map), TOML or JSON to JSON. Infinities, dates and similar values become
 * strings. A `__proto__` key is left out, so that code can safely copy the object key by key. Throws if the value
 * refers to itself, is nested more than 64 levels deep or has more than 100,000 parts.
 */
export function toJson(value: unknown): JsonValue {
  const budget = { nodes: MAX_NODES };
  return convert(value, 0, budget);
}

function convert(value: unknown, depth: number, budget: { nodes: number }): JsonValue {
  budget.nodes -= 1;
  if (budget.nodes < 0) throw new Error(`more than ${MAX_NODES} values in one file`);
  // A value that contains itself is also refused by this check.
  if (depth > MAX_DEPTH) throw new Error(`values nested more than ${MAX_DEPTH} deep`);
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map((item) => convert(item, depth + 1, budget));
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return convertEntries(value, depth, budget);
  if (isJsonObject(value)) return convertEntries(Object.entries(value), depth, budget);
  throw new Error(`a value of type ${typeof value} cannot be used in a definition file`);
}

function convertEntries(
  all: Iterable<readonly [unknown, unknown]>,
  depth: number,
  budget: { nodes: number },
): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [key, item] of all) {
    if (key !== '__proto__') entries.push([String(key), convert(item, depth + 1, budget)]);
  }
  return Object.fromEntries(entries);
}

/** The line of a key in the file, from 1, or undefined if the key does not come from a file. */
export type SourceLine = number | undefined;

/** A top-level field of a front matter or of a data file. */
export interface Field {
  readonly value: JsonValue;
  readonly line: SourceLine;
}

/**
 * The fields by their keys as they are written. This is a map and not an object, so that a key such as `__proto__` has
 * no special meaning.
 */
export type Fields = ReadonlyMap<string, Field>;

/** A problem in the fields of a file. */
export interface FieldProblem {
  readonly code: string;
  readonly message: string;
  readonly line?: number;
}

/** The top-level fields of a JSON, YAML or TOML file, or the reason why it cannot be read. */
export type FileFields =
  | { readonly ok: true; readonly fields: Fields; readonly problems: readonly FieldProblem[] }
  | { readonly ok: false; readonly problem: FieldProblem };

export function unreadableFile(code: string, message: string, line?: number): FileFields {
  return { ok: false, problem: { code, message, ...(line === undefined ? {} : { line }) } };
}

/** The line of a top-level key. */
export interface LocatedKey {
  readonly key: string;
  readonly line: number;
}

/** Collects the fields of keys in order. If a key occurs twice, the last value is used, and a problem is reported. */
export function collectFields(
  keys: readonly LocatedKey[],
  valueOf: (key: string) => unknown,
): { readonly fields: Fields; readonly problems: readonly FieldProblem[] } {
  const fields = new Map<string, Field>();
  const problems: FieldProblem[] = [];
  for (const { key, line } of keys) {
    if (fields.has(key)) {
      const message = `\`${key}\` occurs twice; the last one counts.`;
      problems.push({ code: 'duplicate-key', message, line });
    }
    fields.set(key, { value: toJson(valueOf(key)), line });
  }
  return { fields, problems };
}

/** Removes a byte order mark, and converts every line end to `\n`. */
export function normalizeText(text: string): string {
  return normalizeLineEnds(text.startsWith('\uFEFF') ? text.slice(1) : text);
}

/** Returns the result for a file from which no definition could be loaded. */
export function failedFile(
  file: Pick<DefinitionFile, 'path'>,
  problem: FieldProblem,
): FileDefinitions<never> {
  const { code, message, line } = problem;
  const shown = { code, message: toSafeMessage(message), path: file.path };
  return { items: [], problems: [line === undefined ? shown : { ...shown, line }] };
}

/** Replaces a field that is an object by the fields in it, under names such as `settings.max_turns`. */
export function flattenField(fields: Fields, name: string): Fields {
  const field = fields.get(name);
  if (field === undefined || !isJsonObject(field.value)) return fields;
  const inner = Object.entries(field.value).map(
    ([key, value]) => [`${name}.${key}`, { value: value ?? null, line: field.line }] as const,
  );
  return new Map([...fields, ...inner].filter(([key]) => key !== name));
}

/**
 * Returns the text of another file that an agent file refers to. A relative path is relative to the directory of the
 * agent file.
 */
export function readReferencedText(file: DefinitionFile, path: string): ReferencedText {
  if (file.readReferenced !== undefined)
    return file.readReferenced(toAbsolutePath(path, dirname(file.path)));
  return { ok: false, reason: 'Only the agent file itself can be read here.' };
}
