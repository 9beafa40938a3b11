import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { AgentLimits } from '../../protocol/agent.ts';
import { LIMITS, OPTIONAL_TASK_LIMITS } from '../../protocol/limits.ts';
import type { SourceLine } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';
import { singleLineOf } from './common.ts';

/** The limits that a file can set, by the names of their fields. */
const LIMIT_FIELDS = new Map<string, keyof AgentLimits>([
  ['max-tokens', 'maxTokens'],
  ...OPTIONAL_TASK_LIMITS.map((name) => [limitFieldName(name), LIMITS[name].field] as const),
  ['wall-seconds', 'wallSeconds'],
  ['result-max-tokens', 'resultMaxTokens'],
]);

/** Returns the name of the field that sets a limit of the table of limits. */
function limitFieldName(limit: string): string {
  return limit.replaceAll('_', '-');
}

/** The fields for limits in Muster's own files. In other files, `max-tokens` may mean something else. */
export const OWN_LIMITS: readonly string[] = [...LIMIT_FIELDS.keys()];

/** Returns the fields of a file for limits other than that of turns, undefined where a limit is not set. */
export function writeLimits(limits: AgentLimits): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(Array.from(LIMIT_FIELDS, ([name, field]) => [name, limits[field]]));
}

/** The names that vendors use for the limit of turns. */
const TURN_FIELDS = ['max-turns', 'steps', 'max-steps'];
/** The objects in which some vendors put that limit. */
const TURN_OBJECTS = ['run-config', 'settings'];

/** Returns the names of all fields that set limits. */
export function limitFieldNames(own: readonly string[]): readonly string[] {
  return [...TURN_FIELDS, 'timeout-mins', ...TURN_OBJECTS, ...own];
}

/** Reads the limits of a file: turns under any vendor's name, the minutes of Gemini CLI, and the fields in `own`. */
export function readLimits(reader: FieldReader, own: readonly string[]): AgentLimits {
  const limits: Partial<Record<keyof AgentLimits, number>> = {};
  const turns = readTurns(reader);
  if (turns !== undefined) limits.maxTurns = turns;
  const minutes = readPositive(reader, 'timeout-mins', { whole: false });
  if (minutes !== undefined) limits.wallSeconds = Math.ceil(minutes * 60);
  for (const [name, field] of LIMIT_FIELDS) {
    const value = own.includes(name)
      ? readPositive(reader, name, { whole: name !== 'max-cost-usd' })
      : undefined;
    if (value !== undefined) limits[field] = value;
  }
  return limits;
}

/** Returns the smallest limit of turns: a converted file may have two of them. */
function readTurns(reader: FieldReader): number | undefined {
  const found = [
    ...TURN_FIELDS.map((name) => readPositive(reader, name)),
    ...TURN_OBJECTS.map((name) => turnsWithin(reader, name)),
  ].filter((value) => value !== undefined);
  return found.length === 0 ? undefined : Math.min(...found);
}

/** The object stays untaken, because it also holds values that nothing here reads. */
function turnsWithin(reader: FieldReader, name: string): number | undefined {
  const field = reader.peek(name);
  if (!isJsonObject(field?.value)) return undefined;
  const value = field.value['max_turns'] ?? field.value['maxTurns'];
  if (value === undefined || value === null) return undefined;
  return positive(reader, { name: `${name}.max_turns`, value, line: field.line, whole: true });
}

function readPositive(
  reader: FieldReader,
  name: string,
  { whole }: { readonly whole: boolean } = { whole: true },
): number | undefined {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return undefined;
  return positive(reader, { name, value: field.value, line: field.line, whole });
}

function positive(reader: FieldReader, field: NumberField): number | undefined {
  const { name, value, line, whole } = field;
  const number = Number(singleLineOf(value));
  const isFit = whole ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (isFit && number > 0) return number;
  const message = `\`${name}\` must be a ${whole ? 'whole ' : ''}number above 0; it is ignored.`;
  reader.warn('invalid-limit', message, line);
  return undefined;
}

interface NumberField {
  readonly name: string;
  readonly value: JsonValue;
  readonly line: SourceLine;
  readonly whole: boolean;
}
