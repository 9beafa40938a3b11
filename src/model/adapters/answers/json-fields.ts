import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';

/** Returns the value if it is a non-empty string, or else undefined. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the value as a number if it is a finite number or, as some servers send it, a string with one; else undefined. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Returns the value if it is an object, or else undefined. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Returns the objects of a list. A single object counts as a list with one element. */
export function asObjects(value: JsonValue | undefined): readonly JsonObject[] {
  if (Array.isArray(value)) return value.filter((item) => isJsonObject(item));
  return isJsonObject(value) ? [value] : [];
}
