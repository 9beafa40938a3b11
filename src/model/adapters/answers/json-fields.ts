import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';

/** Returns the value if it is a string that is not empty. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the value if it is a finite number. Servers also send numbers as strings. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Returns the value if it is an object. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Returns the objects of a list. A single object counts as a list of one. */
export function asObjects(value: JsonValue | undefined): readonly JsonObject[] {
  if (Array.isArray(value)) return value.filter((item) => isJsonObject(item));
  return isJsonObject(value) ? [value] : [];
}
