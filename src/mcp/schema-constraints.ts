import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

/** The maximum length of a value that a description quotes. */
const MAX_VALUE_LENGTH = 120;
const MAX_LISTED_VALUES = 30;

/** Keywords with a value that a description can quote, and the words before it. */
const QUOTED: readonly (readonly [keyword: string, words: string])[] = [
  ['pattern', 'Pattern:'],
  ['format', 'Format:'],
  ['exclusiveMinimum', 'More than'],
  ['exclusiveMaximum', 'Less than'],
  ['multipleOf', 'A multiple of'],
  ['default', 'Default:'],
];

/**
 * Describes the constraints of a schema that its converted form does not have, in short sentences for a model.
 */
export function describeConstraints(source: JsonObject, converted: JsonObject): readonly string[] {
  const quoted = QUOTED.flatMap(([keyword, words]) => {
    const value = source[keyword];
    const isKept = converted[keyword] !== undefined || typeof value === 'boolean';
    return value === undefined || isKept ? [] : quote(words, value);
  });
  return [...describeValues(source, converted), ...quoted, ...describeKeys(source)];
}

/** Describes the allowed values if the converted schema has no list of them. */
function describeValues(source: JsonObject, converted: JsonObject): readonly string[] {
  if (converted['enum'] !== undefined || converted['type'] === 'null') return [];
  if (source['const'] !== undefined) return quote('Always', source['const']);
  const values = source['enum'];
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_LISTED_VALUES) return [];
  return quote('One of:', values.map((value: JsonValue) => JSON.stringify(value)).join(', '));
}

/** Describes an object that is used as a map. */
function describeKeys({ additionalProperties, properties }: JsonObject): readonly string[] {
  if (!isJsonObject(additionalProperties)) return [];
  const { type } = additionalProperties;
  const value = typeof type === 'string' ? `${type} values` : 'values of any type';
  const isMap = !isJsonObject(properties) || Object.keys(properties).length === 0;
  return [isMap ? `A map from any keys to ${value}.` : `More keys with ${value} are allowed.`];
}

function quote(words: string, value: JsonValue): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === '' || text.length > MAX_VALUE_LENGTH ? [] : [`${words} ${text}.`];
}

/** Returns a limit for a length or a count; null if the value is not one. */
export function toWholeNumber(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
