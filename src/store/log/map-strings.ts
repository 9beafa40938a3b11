import { isJsonObject } from '../../base/json.ts';

/**
 * Applies `change` to each string in a JSON value, but not to keys. Unchanged parts are returned as the same objects, so
 * that the usual case allocates nothing.
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
  // Not by assignment: a key `__proto__` in the JSON of a model must stay a key.
  return changed === undefined ? object : Object.fromEntries(changed);
}
