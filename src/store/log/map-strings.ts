import { isJsonObject } from '../../base/json.ts';

/**
 * A JSON value with each string in it passed through `change`; keys stay. What has not changed comes
 * back as the same object, so that the usual case allocates nothing.
 */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return mapArray(value, change);
  if (isJsonObject(value)) return mapObject(value, change);
  return value;
}

function mapArray(items: readonly unknown[], change: (text: string) => string): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = mapStrings(items[index], change);
    if (item !== items[index]) (changed ??= [...items])[index] = item;
  }
  return changed ?? items;
}

function mapObject(object: object, change: (text: string) => string): object {
  let changed: [string, unknown][] | undefined;
  const entries = Object.entries(object);
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index];
    if (entry === undefined) continue;
    const value = mapStrings(entry[1], change);
    if (value !== entry[1]) (changed ??= [...entries])[index] = [entry[0], value];
  }
  // Not by assignment: a key `__proto__` from a model's JSON must stay a key.
  return changed === undefined ? object : Object.fromEntries(changed);
}
