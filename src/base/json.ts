export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** Whether it has objects and lists within each other on more than `most` levels. However deep it is. */
export function isDeeperThan(value: JsonValue, most: number): boolean {
  for (const { level } of visitJsonValues(value)) if (level > most) return true;
  return false;
}

/** A value and all values in it, each with the number of objects and lists that it is and lies in. */
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

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
