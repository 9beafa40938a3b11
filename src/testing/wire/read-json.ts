import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

// Readers for JSON of any shape. Each returns an empty value if the value is absent or has another type.

export function readString(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function readNumber(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

export function readObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the objects of a list. Other values are left out. */
export function readObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isJsonObject) : [];
}

/** Returns true for a list. `Array.isArray` does not narrow readonly lists. */
export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Parses JSON. Returns the text itself if it is not valid JSON. */
export function parseOrKeep(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    // Invalid arguments of a call are returned unchanged, so that a test can check them.
    return text;
  }
}

/** Reads the text of a content, which is a string or a list of parts with the field `text`. */
export function readContentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return readObjects(content)
    .map((part) => readString(part['text']))
    .join('');
}
