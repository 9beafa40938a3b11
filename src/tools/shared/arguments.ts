import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { truncate } from '../../base/text.ts';
import type { ObjectSchema, ValueSchema } from './schema.ts';

/**
 * Maps other names of arguments to the canonical ones, for a tool and for the objects in its lists. A `!` in front of
 * the canonical name marks an opposite: `case_sensitive` is `!ignore_case`.
 */
export type ArgumentAliases = Readonly<Record<string, string>>;

/** Collects the problems and changes while arguments are read. Readers append to both lists. */
export interface ArgumentReport {
  /** Errors, one sentence each. */
  readonly issues: string[];
  /** Changes that made the call possible, one sentence each. They are added to the result of the call. */
  readonly notes: string[];
}

/** Arguments that every tool accepts and ignores. Models write the purpose of a call into them. */
export const ALWAYS_IGNORED: readonly string[] = ['description', 'explanation'];
/** The maximum number of code points of an unknown name that an error repeats. */
const MAX_NAME_LENGTH = 80;
/** The maximum number of unknown names that an error repeats. */
const MAX_NAMES = 10;

/**
 * Converts the arguments of a model's call to the names and types of the schema. Aliases become canonical names,
 * whatever their case and word separators. `null` counts as absent, and so does an empty text or list in an optional
 * field. A number, boolean or list that is written as a string is parsed. A number that is out of range becomes the
 * nearest valid number, with a note. An unknown name is an issue. A value of the wrong type is not changed, so that
 * `matchesSchema` refuses it.
 */
export function normalizeArguments(
  input: JsonObject,
  { aliases, schema, at = '' }: ArgumentOptions,
  report: ArgumentReport,
): JsonObject {
  const named = new Map<string, JsonValue>();
  const unknown: string[] = [];
  const resolveName = createNameResolver(Object.keys(schema.properties), aliases);
  for (const [key, givenValue] of Object.entries(input)) {
    const resolved = resolveName(key);
    const fieldSchema = resolved === undefined ? undefined : schema.properties[resolved.name];
    if (resolved === undefined || fieldSchema === undefined) {
      const value = givenValue ?? null;
      const problem = checkExtraArgument(key, value, schema, at);
      if (problem === 'unknown') unknown.push(key);
      else if (problem !== null) report.issues.push(problem);
      continue;
    }
    if (givenValue === undefined || givenValue === null) continue;
    const { name, negated } = resolved;
    const field = `${at}${name}`;
    const typed = coerce(givenValue, fieldSchema, { aliases, at: `${field}.` }, report);
    const value = clampNumber(negated ? negate(typed) : typed, fieldSchema, field, report);
    const isRequired = schema.required.includes(name);
    if (value === undefined || (!isRequired && countsAsAbsent(value, fieldSchema))) continue;
    const earlierValue = named.get(name);
    if (earlierValue !== undefined && JSON.stringify(earlierValue) !== JSON.stringify(value)) {
      report.issues.push(`${at}${key}: means ${name}, which is given as well; send one of them`);
    }
    named.set(name, value);
  }
  if (unknown.length > 0) report.issues.push(describeUnknownNames(unknown, schema, at));
  return Object.fromEntries(named);
}

interface ArgumentOptions {
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
  const folded = new Map([...exact].map(([key, name]) => [foldKey(key), name] as const));
  return (key) => {
    const name = exact.get(key) ?? folded.get(foldKey(key));
    if (name === undefined) return undefined;
    const negated = name.startsWith('!');
    return { name: negated ? name.slice(1) : name, negated };
  };
}

/** Removes case and word separators from a key, unless it looks like an option, because `-A` and `-a` are different. */
function foldKey(key: string): string {
  return key.startsWith('-') ? key : key.toLowerCase().replaceAll(/[_-]/g, '');
}

/**
 * Checks an argument that is not in the schema. Returns null if the argument is accepted and ignored, `unknown` if its
 * name is unknown, and otherwise an issue.
 */
function checkExtraArgument(
  key: string,
  value: JsonValue,
  { ignored = [], fixed = {} }: ObjectSchema,
  at: string,
): string | null {
  const isSameKey = (name: string): boolean => foldKey(name) === foldKey(key);
  if (ignored.some(isSameKey)) return null;
  if (at === '' && ALWAYS_IGNORED.some(isSameKey)) return null;
  const name = Object.keys(fixed).find(isSameKey);
  const valid = name === undefined ? undefined : fixed[name];
  if (valid === undefined) return 'unknown';
  if (isEmptyValue(value) || valid.some((each) => String(each) === String(value))) return null;
  const shown = valid.map((each) => JSON.stringify(each)).join(', ');
  return `${at}${key}: is not available here; leave it out (it acts as ${shown})`;
}

function describeUnknownNames(
  unknown: readonly string[],
  schema: ObjectSchema,
  at: string,
): string {
  const shown = unknown.slice(0, MAX_NAMES).map((name) => at + truncate(name, MAX_NAME_LENGTH));
  const more = unknown.length > MAX_NAMES ? ` and ${unknown.length - MAX_NAMES} more` : '';
  const what = unknown.length === 1 ? 'is not an argument' : 'are not arguments';
  const names = Object.keys(schema.properties);
  const valid = names.length === 0 ? 'there are none' : `valid: ${names.join(', ')}`;
  return `${shown.join(', ')}${more}: ${what}; ${valid}`;
}

/** Returns whether a value counts as absent in an optional field. */
export function isEmptyValue(value: JsonValue): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function countsAsAbsent(value: JsonValue, schema: ValueSchema): boolean {
  return isEmptyValue(value) && !(schema.type === 'string' && schema.emptyIsValue === true);
}

function negate(value: JsonValue): JsonValue {
  return typeof value === 'boolean' ? !value : value;
}

function coerce(
  value: JsonValue,
  schema: ValueSchema,
  { aliases, at }: Required<Pick<ArgumentOptions, 'aliases' | 'at'>>,
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

/**
 * Returns the nearest valid number, and adds a note if it differs from the value. Returns undefined if the value counts
 * as absent.
 */
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
  const max = isInteger ? (schema.clampTo ?? maximum) : maximum;
  const nearest = Math.min(Math.max(value, minimum), max);
  if (nearest !== value) notes.push(clampNote(field, value, nearest));
  return nearest;
}

/** Describes the replacement of a number that was out of range. */
export function clampNote(field: string, givenValue: number, used: number): string {
  return givenValue < used
    ? `${field}: ${givenValue} is below the minimum, ${used} was used`
    : `${field}: ${givenValue} is above the maximum, ${used} was used`;
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
      // For any other text, `matchesSchema` reports the expected type.
      const parsed = parseJsonLine(text);
      return Array.isArray(parsed) ? parsed : text;
    }
    case 'string':
    case 'object':
      return text;
  }
}
