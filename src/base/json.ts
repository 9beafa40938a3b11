/** A value of JSON without parts. */
export type JsonPrimitive = string | number | boolean | null;
/** A value of JSON. */
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
/** An object of JSON. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/**
 * Tells whether objects and lists are nested more than `maxLevels` deep. Does not recurse, so it works at any depth.
 */
export function isDeeperThan(value: JsonValue, maxLevels: number): boolean {
  for (const { level } of visitJsonValues(value)) if (level > maxLevels) return true;
  return false;
}

/** Yields a value and all values in it, each with its nesting level. */
export function* visitJsonValues(
  root: JsonValue,
): Generator<{ readonly value: JsonValue; readonly level: number }> {
  const pending = [{ value: root, level: isScalar(root) ? 0 : 1 }];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    yield item;
    const { value, level } = item;
    if (isScalar(value)) continue;
    for (const child of Object.values<JsonValue | undefined>(value)) {
      if (child !== undefined)
        pending.push({ value: child, level: level + (isScalar(child) ? 0 : 1) });
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
