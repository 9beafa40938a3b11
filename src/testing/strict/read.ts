import { isList } from '../wire/read-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/** An object in a request, and its path. */
export interface LocatedObject {
  readonly path: string;
  readonly value: JsonObject;
}

/**
 * Returns the objects of a list with their paths. Returns an empty list if the value is not a list. `createPath`: creates
 * the path for an index.
 */
export function locateObjects(
  value: JsonValue | undefined,
  createPath: (index: number) => string,
): readonly LocatedObject[] {
  if (!isList(value)) return [];
  return value.flatMap((each, index) =>
    isJsonObject(each) ? [{ path: createPath(index), value: each }] : [],
  );
}

/** Returns the keys of an object that are set and not in `known`. */
export function findUnknownKeys(value: JsonObject, known: readonly string[]): readonly string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined && !known.includes(key));
}

/** Selects the items that have the same value as an earlier item. `getValue`: returns the value, such as an id. */
export function selectRepeatedItems<T>(
  items: readonly T[],
  getValue: (item: T) => unknown,
): readonly T[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    const value = getValue(item);
    if (seen.has(value)) return true;
    seen.add(value);
    return false;
  });
}

/** Lists names in quotes for a message. `last`: the separator before the last name. */
export function quoteNames(names: readonly string[], last = ', '): string {
  const quoted = names.map((name) => `'${name}'`);
  return [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)]
    .filter((part) => part !== '')
    .join(last);
}

/** Returns the type of a value, in the words of JSON Schema and of OpenAI's messages. */
export function findJsonType(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (isList(value)) return 'array';
  return typeof value === 'object' ? 'object' : typeof value;
}

/** Yields each schema inside a JSON Schema, including the root. `path`: the keys from the root to the schema. */
export function* iterateSchemas(
  schema: JsonObject,
  path: readonly string[] = [],
): Generator<{ readonly schema: JsonObject; readonly path: readonly string[] }> {
  yield { schema, path };
  for (const group of ['properties', '$defs', 'definitions', 'patternProperties']) {
    const named = schema[group];
    if (!isJsonObject(named)) continue;
    for (const [name, each] of Object.entries(named)) {
      if (isJsonObject(each)) yield* iterateSchemas(each, [...path, group, name]);
    }
  }
  for (const list of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    const each = schema[list];
    if (!isList(each)) continue;
    for (const [index, one] of each.entries()) {
      if (isJsonObject(one)) yield* iterateSchemas(one, [...path, list, String(index)]);
    }
  }
  for (const single of ['items', 'additionalProperties', 'not']) {
    const one = schema[single];
    if (isJsonObject(one)) yield* iterateSchemas(one, [...path, single]);
  }
}

/** Yields the paths of all strings and keys that contain half of a surrogate pair, which valid UTF-8 cannot contain. */
export function* findLoneSurrogates(value: JsonValue | undefined, path = ''): Generator<string> {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) yield path;
    return;
  }
  if (isList(value)) {
    for (const [index, each] of value.entries())
      yield* findLoneSurrogates(each, `${path}[${index}]`);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, each] of Object.entries(value)) {
    const valuePath = path === '' ? key : `${path}.${key}`;
    if (!key.isWellFormed()) yield valuePath;
    yield* findLoneSurrogates(each, valuePath);
  }
}
