export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** Tells whether objects and lists are nested on more than `most` levels. Works at any depth. */
export function isDeeperThan(value: JsonValue, most: number): boolean {
  for (const { level } of visitJsonValues(value)) if (level > most) return true;
  return false;
}

/** Yields a value and all values in it, each with its nesting level. */
export function* visitJsonValues(
  root: JsonValue,
): Generator<{ readonly value: JsonValue; readonly level: number }> {
  const left = [{ value: root, level: isScalar(root) ? 0 : 1 }];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    yield at;
    const { value, level } = at;
    if (isScalar(value)) continue;
    for (const each of Object.values<JsonValue | undefined>(value)) {
      if (each !== undefined) left.push({ value: each, level: level + (isScalar(each) ? 0 : 1) });
    }
  }
}

function isScalar(value: JsonValue): value is JsonPrimitive {
  return typeof value !== 'object' || value === null;
}

/** Tells whether a value is an object and not a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
