import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { cleanDescription } from './tool-description.ts';
import { mergeSchemas, SchemaReferences, type ResolvedSchema } from './resolve-references.ts';
import { describeConstraints, toWholeNumber } from './schema-constraints.ts';

/** The maximum nesting of a converted schema. */
const MAX_DEPTH = 8;
/** The maximum number of schemas in a converted schema. */
const MAX_SCHEMAS = 600;
/** The maximum length of all descriptions and enum values in a converted schema. */
const MAX_TEXT_LENGTH = 16_000;
/** The maximum length of the description of one property. */
const MAX_DESCRIPTION_BYTES = 512;
const MAX_PROPERTIES = 200;
const MAX_VARIANTS = 16;
const MAX_ENUM_VALUES = 200;
/** The names of properties that every provider accepts. */
const PROPERTY_NAME = /^[\w.-]{1,64}$/;
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;

type SchemaType = (typeof TYPES)[number];

/** The schema of a tool's arguments in the form that every provider accepts. */
export interface ConvertedSchema {
  readonly schema: JsonObject;
  /** Gives the arguments of a call the names of properties that the server knows. */
  restoreArguments(args: JsonObject): JsonObject;
}

/**
 * Converts the schema of a tool's arguments so that every provider accepts it. The result has only `type` (one),
 * `description`, `enum` (of texts), `properties`, `required`, `items`, `anyOf`, the limits of texts, lists and numbers,
 * and the format `date-time`. It is the schema of an object, without `anyOf` at its top. References are inlined, and
 * keywords that are left out are explained in descriptions. The schema only guides the model: the server checks the
 * arguments itself. Never throws.
 */
export function convertToolSchema(schema: JsonValue | undefined): ConvertedSchema {
  const conversion = new Conversion(schema ?? {});
  const converted = conversion.convertRoot();
  const { originals } = conversion;
  return {
    schema: converted,
    restoreArguments: (args) =>
      originals.size === 0 ? args : (restoreNames(args, originals) as JsonObject),
  };
}

function restoreNames(value: JsonValue, originals: ReadonlyMap<string, string>): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => restoreNames(item, originals));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      originals.get(name) ?? name,
      item === undefined ? undefined : restoreNames(item, originals),
    ]),
  );
}

/** The conversion of one schema, with the budget for its size. */
class Conversion {
  /** The original names of properties that were renamed. */
  readonly originals = new Map<string, string>();
  private readonly root: JsonValue;
  private readonly references: SchemaReferences;
  private remainingSchemas = MAX_SCHEMAS;
  private remainingText = MAX_TEXT_LENGTH;

  constructor(root: JsonValue) {
    this.root = root;
    this.references = new SchemaReferences(root);
  }

  convertRoot(): JsonObject {
    const resolved = this.references.resolve(this.root, []) ?? { schema: {}, path: [] };
    const { anyOf, oneOf, ...own } = resolved.schema;
    const merged = this.mergeVariants(own, [anyOf, oneOf], resolved.path);
    return this.convertObject({ schema: merged, path: resolved.path }, 0);
  }

  /** Converts a schema. Returns null for a schema that no value matches. */
  private convert(
    schema: JsonValue | undefined,
    path: readonly string[],
    depth: number,
  ): JsonObject | null {
    const resolved = this.references.resolve(schema, path);
    if (resolved === null) return null;
    this.remainingSchemas -= 1;
    const { anyOf, oneOf, ...own } = resolved.schema;
    const types = findTypes(own);
    const lists = [anyOf, oneOf].filter((list) => Array.isArray(list));
    const isFull = depth >= MAX_DEPTH || this.remainingSchemas <= 0;
    if (isFull) return createShortSchema(types[0] ?? 'string');
    if (lists.length > 0 && types.length === 0) {
      const variants = lists[0]?.slice(0, MAX_VARIANTS) ?? [];
      const converted = variants.map((each: JsonValue) =>
        this.convert(each, resolved.path, depth + 1),
      );
      return this.describe(own, joinVariants(converted.filter((each) => each !== null)));
    }
    const merged = this.mergeVariants(own, lists, resolved.path);
    const [first = null, second] = types;
    if (first === null) return this.describe(own, anyValue());
    if (second === undefined)
      return this.convertType(first, { ...resolved, schema: merged }, depth);
    const { description, ...rest } = merged;
    const variants = types.map((type) =>
      this.convertType(type, { ...resolved, schema: rest }, depth + 1),
    );
    return this.describe({ description }, joinVariants(variants));
  }

  private convertType(type: SchemaType, resolved: ResolvedSchema, depth: number): JsonObject {
    const { schema, path } = resolved;
    switch (type) {
      case 'object':
        return this.convertObject(resolved, depth);
      case 'array':
        return this.describe(schema, {
          type,
          items: this.convertItems(schema, path, depth),
          ...pickWholeNumbers(schema, ['minItems', 'maxItems']),
        });
      case 'string':
        return this.describe(schema, {
          type,
          ...this.readEnum(schema),
          ...pickWholeNumbers(schema, ['minLength', 'maxLength']),
          ...(schema['format'] === 'date-time' ? { format: 'date-time' } : {}),
        });
      case 'number':
      case 'integer':
        return this.describe(schema, { type, ...pickNumbers(schema, ['minimum', 'maximum']) });
      case 'boolean':
      case 'null':
        return this.describe(schema, { type });
      default:
        return type satisfies never;
    }
  }

  private convertObject({ schema, path }: ResolvedSchema, depth: number): JsonObject {
    const listed = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : [];
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    // If not all properties fit, the required ones matter most.
    const sorted =
      listed.length > MAX_PROPERTIES
        ? listed.toSorted(([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)))
        : listed;
    const names = new Map<string, string>();
    const properties: Record<string, JsonObject> = {};
    for (const [original, each] of sorted.slice(0, MAX_PROPERTIES)) {
      if (this.remainingSchemas <= 0) break;
      const converted = this.convert(each, path, depth + 1);
      if (converted === null) continue;
      const name = this.rename(original);
      names.set(original, name);
      Object.defineProperty(properties, name, { value: converted, enumerable: true });
    }
    const known = required.flatMap((name: JsonValue) => names.get(String(name)) ?? []);
    return this.describe(schema, {
      type: 'object',
      properties: { ...properties },
      ...(known.length === 0 ? {} : { required: [...new Set(known)] }),
    });
  }

  /** Returns the name of a property, which is an alias with a hash if a provider refuses the original. */
  private rename(original: string): string {
    if (PROPERTY_NAME.test(original) && original !== '__proto__') return original;
    const hash = createHash('sha256').update(original).digest('hex').slice(0, 8);
    const alias = `${original.replaceAll(/[^\w.-]+/g, '_').slice(0, 50)}_${hash}`;
    this.originals.set(alias, original);
    return alias;
  }

  private convertItems(schema: JsonObject, path: readonly string[], depth: number): JsonObject {
    const { items, prefixItems } = schema;
    const tuple: readonly JsonValue[] = [
      ...(Array.isArray(prefixItems) ? prefixItems : []),
      ...(Array.isArray(items) ? items : []),
    ];
    const all = [...tuple.slice(0, MAX_VARIANTS), ...(isJsonObject(items) ? [items] : [])];
    const converted = all.map((each) => this.convert(each, path, depth + 1));
    return joinVariants(converted.filter((each) => each !== null));
  }

  /**
   * Adds the properties of the variants of an object to it. A property is required only if each variant of one list
   * requires it.
   */
  private mergeVariants(
    own: JsonObject,
    lists: readonly (JsonValue | undefined)[],
    path: readonly string[],
  ): JsonObject {
    let merged = own;
    for (const list of lists) {
      if (!Array.isArray(list)) continue;
      const variants = list
        .slice(0, MAX_VARIANTS)
        .map((each: JsonValue) => this.references.resolve(each, path)?.schema)
        .filter((each) => each !== undefined);
      const required = variants
        .map((each) => (Array.isArray(each['required']) ? each['required'] : []))
        .reduce<readonly JsonValue[] | null>(
          (common, each) => common?.filter((name) => each.includes(name)) ?? each,
          null,
        );
      for (const { properties } of variants) {
        if (isJsonObject(properties)) merged = mergeOptional(merged, properties);
      }
      if (required !== null) merged = mergeSchemas(merged, { required });
    }
    const conditional = [own['then'], own['else']].flatMap((each) =>
      isJsonObject(each) && isJsonObject(each['properties']) ? [each['properties']] : [],
    );
    return conditional.reduce<JsonObject>(mergeOptional, merged);
  }

  private readEnum(schema: JsonObject): JsonObject {
    const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
    if (!Array.isArray(values)) return {};
    const texts = values.filter((value: JsonValue) => typeof value === 'string' && value !== '');
    const isComplete = texts.length > 0 && texts.length <= MAX_ENUM_VALUES;
    return isComplete && this.spend(texts.join('').length) ? { enum: [...new Set(texts)] } : {};
  }

  /** Puts the description in front of a converted schema, with the constraints that the schema cannot express. */
  private describe(source: JsonObject, converted: JsonObject): JsonObject {
    const { description } = source;
    const own = typeof description === 'string' ? description.trim() : '';
    const parts = [own, ...describeConstraints(source, converted)].filter((part) => part !== '');
    const text = cleanDescription(parts.join(' '), MAX_DESCRIPTION_BYTES);
    if (text === '' || !this.spend(text.length)) return converted;
    return { description: text, ...converted };
  }

  private spend(length: number): boolean {
    if (length > this.remainingText) return false;
    this.remainingText -= length;
    return true;
  }
}

/** Adds properties that an object does not have yet. */
function mergeOptional(schema: JsonObject, properties: JsonObject): JsonObject {
  const before = isJsonObject(schema['properties']) ? schema['properties'] : {};
  return { ...schema, properties: { ...properties, ...before } };
}

/** Finds the types that a schema allows, also if it only has the keywords of a type. */
function findTypes(schema: JsonObject): readonly SchemaType[] {
  const { type, nullable } = schema;
  const listed = (Array.isArray(type) ? type : [type]).filter(isSchemaType);
  const found = listed.length > 0 ? [...new Set(listed)] : inferTypes(schema);
  const isNullable = nullable === true && found.length > 0 && !found.includes('null');
  const types = isNullable ? [...found, 'null' as const] : found;
  return types.includes('number') ? types.filter((each) => each !== 'integer') : types;
}

function isSchemaType(value: JsonValue | undefined): value is SchemaType {
  return TYPES.some((type) => type === value);
}

/** Keywords by the type to which they belong. */
const TYPE_KEYWORDS: readonly (readonly [SchemaType, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'contains']],
  ['string', ['minLength', 'maxLength', 'pattern', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function inferTypes(schema: JsonObject): readonly SchemaType[] {
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  if (Array.isArray(values) && values.length > 0) {
    return [...new Set(values.map(typeOfValue))];
  }
  const fitting = TYPE_KEYWORDS.find(([, keywords]) =>
    keywords.some((keyword) => schema[keyword] !== undefined),
  );
  return fitting === undefined ? [] : [fitting[0]];
}

function typeOfValue(value: JsonValue): SchemaType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  const type = typeof value;
  return type === 'string' || type === 'boolean' ? type : 'object';
}

/** Returns one schema for the values of several. */
function joinVariants(variants: readonly JsonObject[]): JsonObject {
  const flat = variants.flatMap((each) =>
    Array.isArray(each['anyOf']) && each['description'] === undefined
      ? (each['anyOf'] as readonly JsonObject[])
      : [each],
  );
  const distinct = [...new Map(flat.map((each) => [JSON.stringify(each), each])).values()];
  const [first, second] = distinct;
  if (first === undefined) return anyValue();
  if (second === undefined) return first;
  const enums = distinct.map(({ enum: values, type, ...rest }) =>
    type === 'string' && Array.isArray(values) && Object.keys(rest).length === 0 ? values : null,
  );
  const isOneEnum = enums.every((values) => values !== null);
  if (isOneEnum) return { type: 'string', enum: [...new Set(enums.flat())] };
  return { anyOf: distinct.slice(0, MAX_VARIANTS) };
}

/** Returns a schema for any value. Some providers require a type everywhere. */
function anyValue(): JsonObject {
  const list = { type: 'array', items: { type: 'string' } };
  const types = ['string', 'number', 'boolean', 'object'];
  return { anyOf: [...types.map((type) => createShortSchema(type)), list] };
}

/** Returns the smallest schema of a type. */
function createShortSchema(type: string): JsonObject {
  if (type === 'array') return { type, items: { type: 'string' } };
  return type === 'object' ? { type, properties: {} } : { type };
}

function pickWholeNumbers(schema: JsonObject, keywords: readonly string[]): JsonObject {
  return pick(schema, keywords, (value) => toWholeNumber(value) !== null);
}

function pickNumbers(schema: JsonObject, keywords: readonly string[]): JsonObject {
  return pick(schema, keywords, (value) => typeof value === 'number' && Number.isFinite(value));
}

function pick(
  schema: JsonObject,
  keywords: readonly string[],
  isValid: (value: JsonValue | undefined) => boolean,
): JsonObject {
  const present = keywords.filter((keyword) => isValid(schema[keyword]));
  return Object.fromEntries(present.map((keyword) => [keyword, schema[keyword]]));
}
