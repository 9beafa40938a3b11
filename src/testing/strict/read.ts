import { isList } from '../wire/read-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/** An object of a request and the path to it. */
export interface Placed {
  readonly path: string;
  readonly value: JsonObject;
}

/**
 * Returns the objects of a list with their paths. `pathOf` returns the path of an index. Empty if the value is
 * no list.
 */
export function placedObjects(
  value: JsonValue | undefined,
  pathOf: (index: number) => string,
): readonly Placed[] {
  if (!isList(value)) return [];
  return value.flatMap((each, index) =>
    isJsonObject(each) ? [{ path: pathOf(index), value: each }] : [],
  );
}

/** Returns the keys of an object that are set and not known. */
export function unknownKeys(value: JsonObject, known: readonly string[]): readonly string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined && !known.includes(key));
}

/** Returns the items that have the same value, such as an id, as an earlier item of the list. */
export function repeatedItems<T>(items: readonly T[], valueOf: (item: T) => unknown): readonly T[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    const value = valueOf(item);
    if (seen.has(value)) return true;
    seen.add(value);
    return false;
  });
}

/** Lists names in quotes for a message. `last`: the separator before the last one. */
export function quoteNames(names: readonly string[], last = ', '): string {
  const quoted = names.map((name) => `'${name}'`);
  return [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)]
    .filter((part) => part !== '')
    .join(last);
}

/** Returns the type of a value as JSON Schema and OpenAI's messages name it. */
export function jsonType(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (isList(value)) return 'array';
  return typeof value === 'object' ? 'object' : typeof value;
}

/** Yields each schema in a JSON Schema, including the root, with the keys that lead to it. */
export function* eachSchema(
  schema: JsonObject,
  path: readonly string[] = [],
): Generator<{ readonly schema: JsonObject; readonly path: readonly string[] }> {
  yield { schema, path };
  for (const group of ['properties', '$defs', 'definitions', 'patternProperties']) {
    const named = schema[group];
    if (!isJsonObject(named)) continue;
    for (const [name, each] of Object.entries(named)) {
      if (isJsonObject(each)) yield* eachSchema(each, [...path, group, name]);
    }
  }
  for (const list of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    const each = schema[list];
    if (!isList(each)) continue;
    for (const [index, one] of each.entries()) {
      if (isJsonObject(one)) yield* eachSchema(one, [...path, list, String(index)]);
    }
  }
  for (const single of ['items', 'additionalProperties', 'not']) {
    const one = schema[single];
    if (isJsonObject(one)) yield* eachSchema(one, [...path, single]);
  }
}

/** Yields the paths of all strings and keys with half of a surrogate pair, which valid UTF-8 cannot contain. */
export function* loneSurrogates(value: JsonValue | undefined, path = ''): Generator<string> {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) yield path;
    return;
  }
  if (isList(value)) {
    for (const [index, each] of value.entries()) yield* loneSurrogates(each, `${path}[${index}]`);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, each] of Object.entries(value)) {
    const place = path === '' ? key : `${path}.${key}`;
    if (!key.isWellFormed()) yield place;
    yield* loneSurrogates(each, place);
  }
}
