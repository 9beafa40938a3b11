import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { AgentLimits } from '../../protocol/agent.ts';
import { LIMITS, OPTIONAL_TASK_LIMITS } from '../../protocol/limits.ts';
import type { SourceLine } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';
import { readSingleLine } from './common.ts';

/** The limits that a file can set, by the names of their fields in the file. */
const LIMIT_FIELDS = new Map<string, keyof AgentLimits>([
  ['max-tokens', 'maxTokens'],
  ...OPTIONAL_TASK_LIMITS.map((name) => [limitFieldName(name), LIMITS[name].field] as const),
  ['wall-seconds', 'wallSeconds'],
  ['result-max-tokens', 'resultMaxTokens'],
]);

const DECIMAL_FIELDS = new Set(
  OPTIONAL_TASK_LIMITS.filter((name) => LIMITS[name].measure === 'costUsd').map(limitFieldName),
);

/** Returns the name of the field that sets a limit from the table of limits. */
function limitFieldName(limit: string): string {
  return limit.replaceAll('_', '-');
}

/**
 * The names of the fields for limits in Muster's own files. They are not read in other vendors' files, in which
 * `max-tokens` may mean something else.
 */
export const OWN_LIMITS: readonly string[] = [...LIMIT_FIELDS.keys()];

/**
 * Returns the fields of a file for all limits except the limit of turns. A limit that is not set has the value
 * undefined.
 */
export function writeLimits(limits: AgentLimits): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(Array.from(LIMIT_FIELDS, ([name, field]) => [name, limits[field]]));
}

/** The names that vendors use for the limit of turns. */
const TURN_FIELDS = ['max-turns', 'steps', 'max-steps'];
/** The objects in which some vendors write the limit of turns. */
const TURN_OBJECTS = ['run-config', 'settings'];

/** Returns the names of all fields that set limits. */
export function listLimitFields(own: readonly string[]): readonly string[] {
  return [...TURN_FIELDS, 'timeout-mins', ...TURN_OBJECTS, ...own];
}

/**
 * Reads the limits of a file: the limit of turns under any vendor's name, Gemini CLI's time limit in minutes, and the
 * limits whose field names are in `own`.
 */
export function readLimits(reader: FieldReader, own: readonly string[]): AgentLimits {
  const limits: Partial<Record<keyof AgentLimits, number>> = {};
  const turns = readTurns(reader);
  if (turns !== undefined) limits.maxTurns = turns;
  const minutes = readPositive(reader, 'timeout-mins', { isWhole: false });
  if (minutes !== undefined) limits.wallSeconds = Math.ceil(minutes * 60);
  for (const [name, field] of LIMIT_FIELDS) {
    const value = own.includes(name)
      ? readPositive(reader, name, { isWhole: !DECIMAL_FIELDS.has(name) })
      : undefined;
    if (value !== undefined) limits[field] = value;
  }
  return limits;
}

/** Returns the smallest limit of turns, because a converted file may have two of them. */
function readTurns(reader: FieldReader): number | undefined {
  const limits = [
    ...TURN_FIELDS.map((name) => readPositive(reader, name)),
    ...TURN_OBJECTS.map((name) => readNestedTurns(reader, name)),
  ].filter((value) => value !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/**
 * Reads the limit of turns in an object. The object itself is not taken, because it also has values that are not read.
 */
function readNestedTurns(reader: FieldReader, name: string): number | undefined {
  const field = reader.peek(name);
  if (!isJsonObject(field?.value)) return undefined;
  const value = field.value['max_turns'] ?? field.value['maxTurns'];
  if (value === undefined || value === null) return undefined;
  return parsePositive(reader, {
    name: `${name}.max_turns`,
    value,
    line: field.line,
    isWhole: true,
  });
}

function readPositive(
  reader: FieldReader,
  name: string,
  { isWhole }: { readonly isWhole: boolean } = { isWhole: true },
): number | undefined {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return undefined;
  return parsePositive(reader, { name, value: field.value, line: field.line, isWhole });
}

function parsePositive(reader: FieldReader, field: NumberField): number | undefined {
  const { name, value, line, isWhole } = field;
  const number = Number(readSingleLine(value));
  const isValid = isWhole ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (isValid && number > 0) return number;
  const message = `\`${name}\` must be a ${isWhole ? 'whole ' : ''}number above 0; it is ignored.`;
  reader.warn('invalid-limit', message, line);
  return undefined;
}

interface NumberField {
  readonly name: string;
  readonly value: JsonValue;
  readonly line: SourceLine;
  readonly isWhole: boolean;
}
