import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/json.ts';

type Rule = (value: JsonValue, by: JsonValue, schema: JsonObject) => boolean;

/**
 * Returns true if a value is valid. A slow validator that follows the text of draft 2020-12 keyword by keyword, to
 * compare with the validator that Muster uses. `then`, `else`, `minContains` and `maxContains` are checked with the
 * keyword that they belong to.
 */
export function isValid(value: JsonValue, schema: JsonValue): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isJsonObject(schema)) throw new Error('no schema');
  return Object.entries(schema).every(([keyword, by]) => {
    const rule = RULES[keyword];
    if (rule === undefined) throw new Error(`no rule for ${keyword}`);
    return rule(value, by ?? null, schema);
  });
}

const isText = (value: JsonValue) => typeof value === 'string';
const lengthOf = (value: JsonValue) => [...String(value)].length;
const list = (value: JsonValue): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const keys = (value: JsonValue) => (isJsonObject(value) ? Object.keys(value) : []);
const get = (value: JsonValue, key: string): JsonValue =>
  (isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : null) ?? null;
const has = (value: JsonValue, key: JsonValue) => keys(value).includes(String(key));
const matching = (value: JsonValue, schemas: JsonValue) =>
  list(schemas).filter((schema) => isValid(value, schema)).length;

const TYPES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  object: isJsonObject,
  array: Array.isArray,
  string: isText,
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const RULES: Readonly<Record<string, Rule>> = {
  type: (value, name) => TYPES[String(name)]?.(value) === true,
  const: isDeepStrictEqual,
  enum: (value, values) => list(values).some((each) => isDeepStrictEqual(each, value)),
  minimum: (value, least) => typeof value !== 'number' || value >= Number(least),
  multipleOf: (value, of) => typeof value !== 'number' || Number.isInteger(value / Number(of)),
  minLength: (value, least) => !isText(value) || lengthOf(value) >= Number(least),
  maxLength: (value, most) => !isText(value) || lengthOf(value) <= Number(most),
  pattern: (value, source) => !isText(value) || new RegExp(String(source), 'u').test(String(value)),
  minItems: (value, least) => !Array.isArray(value) || value.length >= Number(least),
  uniqueItems: (value, isWanted) =>
    isWanted !== true ||
    list(value).every((each, at) =>
      list(value).every((other, index) => index === at || !isDeepStrictEqual(each, other)),
    ),
  prefixItems: (value, schemas) =>
    list(schemas).every(
      (schema, at) => at >= list(value).length || isValid(list(value)[at] ?? null, schema),
    ),
  items: (value, schema, { prefixItems }) =>
    list(value)
      .slice(list(prefixItems ?? null).length)
      .every((each) => isValid(each, schema)),
  contains: (value, schema, { minContains = 1, maxContains = Infinity }) => {
    const found = list(value).filter((each) => isValid(each, schema)).length;
    return !Array.isArray(value) || (found >= Number(minContains) && found <= Number(maxContains));
  },
  minContains: () => true,
  maxContains: () => true,
  required: (value, names) => !isJsonObject(value) || list(names).every((name) => has(value, name)),
  maxProperties: (value, most) => keys(value).length <= Number(most),
  propertyNames: (value, schema) => keys(value).every((key) => isValid(key, schema)),
  dependentRequired: (value, names) =>
    keys(names).every(
      (key) => !has(value, key) || list(get(names, key)).every((name) => has(value, name)),
    ),
  properties: (value, schemas) =>
    keys(schemas).every((key) => !has(value, key) || isValid(get(value, key), get(schemas, key))),
  additionalProperties: (value, schema, { properties = null }) =>
    keys(value).every((key) => has(properties, key) || isValid(get(value, key), schema)),
  anyOf: (value, schemas) => matching(value, schemas) > 0,
  oneOf: (value, schemas) => matching(value, schemas) === 1,
  allOf: (value, schemas) => matching(value, schemas) === list(schemas).length,
  not: (value, schema) => !isValid(value, schema),
  if: (value, schema, branches) =>
    isValid(value, (isValid(value, schema) ? branches['then'] : branches['else']) ?? true),
  // Checked with `if`.
  ...Object.fromEntries(['then', 'else'].map((keyword) => [keyword, () => true])),
};
