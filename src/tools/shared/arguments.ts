import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import type { ObjectSchema, ValueSchema } from './schema.ts';

/**
 * Other name → canonical name, for the arguments of a tool and of the objects in its lists. A canonical name
 * with `!` in front is that of the opposite: `case_sensitive` for `!ignore_case`.
 */
export type ArgumentAliases = Readonly<Record<string, string>>;

/** What was found while arguments were read. Both lists grow. */
export interface ArgumentReport {
  /** What is wrong, a sentence each. */
  readonly issues: string[];
  /** What was changed to make a call possible, a sentence each, for its result. */
  readonly notes: string[];
}

/** Fields that every tool accepts and none obeys: a call says in them why it is made. */
export const ALWAYS_IGNORED: readonly string[] = ['description', 'explanation'];
/** Code points of an unknown name that its error repeats, and how many names it repeats. */
const SHOWN_NAME = 80;
const SHOWN_NAMES = 10;

/**
 * A model's arguments as the schema names and types them. Other names become the canonical ones, whatever
 * their case and however their words are joined. `null` counts as absent, and so does an empty text or list
 * in an optional field. A number, boolean or list that came as a string is read as what it says, and a number
 * out of range becomes the nearest one that is valid, with a note. A name that means nothing here is an issue.
 * A value of the wrong type stays as it is, for the check to refuse.
 */
export function readArguments(
  input: JsonObject,
  { aliases, schema, at = '' }: ArgumentsToRead,
  report: ArgumentReport,
): JsonObject {
  const named = new Map<string, JsonValue>();
  const unknown: string[] = [];
  const nameOf = nameResolver(Object.keys(schema.properties), aliases);
  for (const [key, given] of Object.entries(input)) {
    const meant = nameOf(key);
    const part = meant === undefined ? undefined : schema.properties[meant.name];
    if (meant === undefined || part === undefined) {
      const value = given ?? null;
      const refused = refusedExtra(key, value, schema, at);
      if (refused === 'unknown') unknown.push(key);
      else if (refused !== null) report.issues.push(refused);
      continue;
    }
    if (given === undefined || given === null) continue;
    const { name, negated } = meant;
    const field = `${at}${name}`;
    const typed = coerce(given, part, { aliases, at: `${field}.` }, report);
    const value = clamped(negated ? opposite(typed) : typed, part, field, report);
    const isRequired = schema.required.includes(name);
    if (value === undefined || (!isRequired && countsAsAbsent(value, part))) continue;
    const other = named.get(name);
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(value)) {
      report.issues.push(`${at}${key}: means ${name}, which is given too; send one of them`);
    }
    named.set(name, value);
  }
  if (unknown.length > 0) report.issues.push(unknownNames(unknown, schema, at));
  return Object.fromEntries(named);
}

interface ArgumentsToRead {
  readonly aliases: ArgumentAliases;
  readonly schema: ObjectSchema;
  /** What stands before the name of a field in an issue: `todos.0.`. */
  readonly at?: string;
}

/** The canonical name that a key means. */
interface MeantName {
  readonly name: string;
  /** The key names the opposite. */
  readonly negated: boolean;
}

/** Finds the canonical name for a key: exactly, then whatever its case and its word separators are. */
export function nameResolver(
  names: readonly string[],
  aliases: ArgumentAliases,
): (key: string) => MeantName | undefined {
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

/** `-A` and `-a` are two options. */
function foldedKey(key: string): string {
  return key.startsWith('-') ? key : key.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Why an argument that names no field is refused; null: it is accepted, and changes nothing. */
function refusedExtra(
  key: string,
  value: JsonValue,
  { ignored = [], fixed = {} }: ObjectSchema,
  at: string,
): string | null {
  const isPlain = (name: string): boolean => foldedKey(name) === foldedKey(key);
  if (ignored.some(isPlain)) return null;
  if (at === '' && ALWAYS_IGNORED.some(isPlain)) return null;
  const name = Object.keys(fixed).find(isPlain);
  const valid = name === undefined ? undefined : fixed[name];
  if (valid === undefined) return 'unknown';
  if (isEmptyValue(value) || valid.some((each) => String(each) === String(value))) return null;
  const shown = valid.map((each) => JSON.stringify(each)).join(', ');
  return `${at}${key}: is not available here; leave it out (it acts as ${shown})`;
}

function unknownNames(unknown: readonly string[], schema: ObjectSchema, at: string): string {
  const shown = unknown.slice(0, SHOWN_NAMES).map((name) => at + truncate(name, SHOWN_NAME));
  const more = unknown.length > SHOWN_NAMES ? ` and ${unknown.length - SHOWN_NAMES} more` : '';
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
  const read = typeof value === 'string' ? fromString(value, schema.type) : value;
  if (schema.type !== 'array' || schema.items.type !== 'object' || !Array.isArray(read))
    return read;
  const { items } = schema;
  return read.map((item: JsonValue, index) =>
    isJsonObject(item)
      ? readArguments(item, { aliases, schema: items, at: `${at}${index}.` }, report)
      : item,
  );
}

/** The nearest number that is valid, with a note where that is another one; undefined: it counts as absent. */
function clamped(
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

/** Says that a number out of range was replaced. */
export function clampNote(field: string, given: number, used: number): string {
  return given < used
    ? `${field}: ${given} is below the minimum, ${used} was used`
    : `${field}: ${given} is above the maximum, ${used} was used`;
}

function fromString(text: string, type: ValueSchema['type']): JsonValue {
  switch (type) {
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text);
    case 'array':
      return parsedList(text) ?? text;
    case 'string':
    case 'object':
      return text;
  }
}

function parsedList(text: string): JsonValue | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    // Not JSON: the check says what it should be.
    return undefined;
  }
}
