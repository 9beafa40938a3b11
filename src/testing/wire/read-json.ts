import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/** Readers for JSON of any shape: what is absent or of another type reads as empty. */

export function readString(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function readNumber(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

export function readObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function readList(value: JsonValue | undefined): readonly JsonValue[] {
  return isList(value) ? value : [];
}

/** The objects of a list; what is no object is left out. */
export function readObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return readList(value).filter(isJsonObject);
}

/** `Array.isArray` narrows a readonly list away. */
function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** JSON text as a value; the text itself where it is not valid. */
export function parseOrKeep(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    // A model's broken arguments come back verbatim: the test wants to see them.
    return text;
  }
}

/** The text of content that is a string, or a list of parts with `text` fields. */
export function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return readObjects(content)
    .map((part) => readString(part['text']))
    .join('');
}
