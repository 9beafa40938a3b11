import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { truncate } from '../../base/text.ts';
import type { ObjectSchema, ValueSchema } from './schema.ts';

/**
 * Maps other names of arguments to the canonical ones, for a tool and for the objects in its lists. A `!` in front of
 * the canonical name marks an opposite: `case_sensitive` is `!ignore_case`.
 */
export type ArgumentAliases = Readonly<Record<string, string>>;

/** Collects what is found while arguments are read. Both lists grow. */
export interface ArgumentReport {
  /** Errors, one sentence each. */
  readonly issues: string[];
  /** Changes that made the call possible, one sentence each, to be added to its result. */
  readonly notes: string[];
}

/** Arguments that every tool accepts and ignores: models give the purpose of a call in them. */
export const ALWAYS_IGNORED: readonly string[] = ['description', 'explanation'];
/** The maximum number of code points of an unknown name that an error repeats, and the maximum number of names. */
const MAX_NAME_LENGTH = 80;
const MAX_NAMES = 10;

/**
 * Converts the arguments of a model's call to the names and types of the schema. Other names become the canonical
 * ones, whatever their case and however their words are joined. `null` counts as absent, and so does an empty text or
 * list in an optional field. A number, boolean or list that came as a string is parsed. A number out of range becomes
 * the nearest valid one, with a note. An unknown name is an issue. A value of the wrong type stays as it is, and
 * `matchesSchema` refuses it.
 */
export function normalizeArguments(
  input: JsonObject,
  { aliases, schema, at = '' }: ArgumentsToRead,
  report: ArgumentReport,
): JsonObject {
  const named = new Map<string, JsonValue>();
  const unknown: string[] = [];
  const resolveName = createNameResolver(Object.keys(schema.properties), aliases);
  for (const [key, given] of Object.entries(input)) {
    const resolved = resolveName(key);
    const part = resolved === undefined ? undefined : schema.properties[resolved.name];
    if (resolved === undefined || part === undefined) {
      const value = given ?? null;
      const problem = checkExtraArgument(key, value, schema, at);
      if (problem === 'unknown') unknown.push(key);
      else if (problem !== null) report.issues.push(problem);
      continue;
    }
    if (given === undefined || given === null) continue;
    const { name, negated } = resolved;
    const field = `${at}${name}`;
    const typed = coerce(given, part, { aliases, at: `${field}.` }, report);
    const value = clampNumber(negated ? opposite(typed) : typed, part, field, report);
    const isRequired = schema.required.includes(name);
    if (value === undefined || (!isRequired && countsAsAbsent(value, part))) continue;
    const other = named.get(name);
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(value)) {
      report.issues.push(`${at}${key}: means ${name}, which is given as well; send one of them`);
    }
    named.set(name, value);
  }
  if (unknown.length > 0) report.issues.push(unknownNames(unknown, schema, at));
  return Object.fromEntries(named);
}

interface ArgumentsToRead {
  readonly aliases: ArgumentAliases;
  readonly schema: ObjectSchema;
  /** The prefix of field names in issues, such as `todos.0.`. */
  readonly at?: string;
}

/** The canonical name that a key stands for. */
interface ResolvedName {
  readonly name: string;
  /** Whether the key names the opposite. */
  readonly negated: boolean;
}

/**
 * Creates a function that finds the canonical name for a key: first exactly, then ignoring case and word separators.
 */
export function createNameResolver(
  names: readonly string[],
  aliases: ArgumentAliases,
): (key: string) => ResolvedName | undefined {
  const exact = new Map<string, string>([
    ...Object.entries(aliases),
    ...names.map((name) => [name, name] as const),
  ]);
  const folded = new Map([...exact].map(([key, name]) => [foldedKey(key), name] as const));
  return (key) => {
    const name = exact.get(key) ?? folded.get(foldedKey(key));
    if (name === undefined) return undefined;
    const negated = name.startsWith('!');
    return { name: negated ? name.slice(1) : name, negated };
  };
}

/** Removes case and word separators, except from options: `-A` and `-a` are different ones. */
function foldedKey(key: string): string {
  return key.startsWith('-') ? key : key.toLowerCase().replaceAll(/[_-]/g, '');
}

/**
 * Checks an argument that is not in the schema. Returns null when it is accepted and ignored, `unknown` for an unknown
 * name, and otherwise an issue.
 */
function checkExtraArgument(
  key: string,
  value: JsonValue,
  { ignored = [], fixed = {} }: ObjectSchema,
  at: string,
): string | null {
  const isSameKey = (name: string): boolean => foldedKey(name) === foldedKey(key);
  if (ignored.some(isSameKey)) return null;
  if (at === '' && ALWAYS_IGNORED.some(isSameKey)) return null;
  const name = Object.keys(fixed).find(isSameKey);
  const valid = name === undefined ? undefined : fixed[name];
  if (valid === undefined) return 'unknown';
  if (isEmptyValue(value) || valid.some((each) => String(each) === String(value))) return null;
  const shown = valid.map((each) => JSON.stringify(each)).join(', ');
  return `${at}${key}: is not available here; leave it out (it acts as ${shown})`;
}

function unknownNames(unknown: readonly string[], schema: ObjectSchema, at: string): string {
  const shown = unknown.slice(0, MAX_NAMES).map((name) => at + truncate(name, MAX_NAME_LENGTH));
  const more = unknown.length > MAX_NAMES ? ` and ${unknown.length - MAX_NAMES} more` : '';
  const what = unknown.length === 1 ? 'is not an argument' : 'are not arguments';
  const names = Object.keys(schema.properties);
  const valid = names.length === 0 ? 'there are none' : `valid: ${names.join(', ')}`;
  return `${shown.join(', ')}${more}: ${what}; ${valid}`;
}

/** Whether a value counts as absent in an optional field. */
export function isEmptyValue(value: JsonValue): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function countsAsAbsent(value: JsonValue, schema: ValueSchema): boolean {
  return isEmptyValue(value) && !(schema.type === 'string' && schema.emptyIsValue === true);
}

function opposite(value: JsonValue): JsonValue {
  return typeof value === 'boolean' ? !value : value;
}

function coerce(
  value: JsonValue,
  schema: ValueSchema,
  { aliases, at }: Required<Pick<ArgumentsToRead, 'aliases' | 'at'>>,
  report: ArgumentReport,
): JsonValue {
  const read = typeof value === 'string' ? parseText(value, schema.type) : value;
  if (schema.type !== 'array' || schema.items.type !== 'object' || !Array.isArray(read))
    return read;
  const { items } = schema;
  return read.map((item: JsonValue, index) =>
    isJsonObject(item)
      ? normalizeArguments(item, { aliases, schema: items, at: `${at}${index}.` }, report)
      : item,
  );
}

/** Returns the nearest valid number, with a note when it differs; undefined when the value counts as absent. */
function clampNumber(
  value: JsonValue,
  schema: ValueSchema,
  field: string,
  { notes }: ArgumentReport,
): JsonValue | undefined {
  if (schema.type !== 'integer' && schema.type !== 'number') return value;
  if (typeof value !== 'number' || (schema.type === 'integer' && !Number.isInteger(value))) {
    return value;
  }
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = schema;
  const isInteger = schema.type === 'integer';
  if (isInteger && schema.lowIsAbsent === true && value < minimum) {
    notes.push(`${field}: ${value} counts as not given`);
    return undefined;
  }
  const most = isInteger ? (schema.clampTo ?? maximum) : maximum;
  const nearest = Math.min(Math.max(value, minimum), most);
  if (nearest !== value) notes.push(clampNote(field, value, nearest));
  return nearest;
}

/** Describes the replacement of a number that was out of range. */
export function clampNote(field: string, given: number, used: number): string {
  return given < used
    ? `${field}: ${given} is below the minimum, ${used} was used`
    : `${field}: ${given} is above the maximum, ${used} was used`;
}

function parseText(text: string, type: ValueSchema['type']): JsonValue {
  switch (type) {
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text);
    case 'array': {
      // `matchesSchema` says of any other text what it should be.
      const parsed = parseJsonLine(text);
      return Array.isArray(parsed) ? parsed : text;
    }
    case 'string':
    case 'object':
      return text;
  }
}
