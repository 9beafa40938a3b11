import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

/** The number of times that one reference may be followed inside itself. */
const MAX_RECURSION = 2;
/** The maximum number of references that are followed one inside the other. */
const MAX_REFERENCES = 24;
/** The maximum number of parts of `allOf`. */
const MAX_PARTS = 50;

/** A schema without `$ref` and `allOf` at its top, and the references that were followed to it. */
export interface ResolvedSchema {
  readonly schema: JsonObject;
  readonly path: readonly string[];
}

/** Resolves the references of one document of JSON Schema, from draft 4 to 2020-12. */
export class SchemaReferences {
  private readonly root: JsonValue;
  /** The definitions that have a name of their own: `$anchor` and `$id`. */
  private readonly named = new Map<string, JsonObject>();

  constructor(root: JsonValue) {
    this.root = root;
    if (!isJsonObject(root)) return;
    for (const definitions of [root['$defs'], root['definitions']]) {
      if (!isJsonObject(definitions)) continue;
      for (const each of Object.values(definitions)) {
        if (!isJsonObject(each)) continue;
        const { $id, $anchor } = each;
        if (typeof $anchor === 'string') this.named.set(`#${$anchor}`, each);
        if (typeof $id === 'string') this.named.set($id, each);
      }
    }
  }

  /**
   * Replaces `$ref` and `allOf` at the top of a schema by what they mean. The schemas inside are not changed. A
   * reference that has no target means any value, and one that contains itself too often means any object.
   * `path`: the references that were followed to the schema. Returns null for the schema `false`.
   */
  resolve(schema: JsonValue | undefined, path: readonly string[]): ResolvedSchema | null {
    if (schema === false) return null;
    if (!isJsonObject(schema)) return { schema: {}, path };
    const { $ref, allOf, ...own } = schema;
    let merged: JsonObject = own;
    let followed = path;
    if (typeof $ref === 'string') {
      const count = path.filter((each) => each === $ref).length;
      if (count >= MAX_RECURSION || path.length >= MAX_REFERENCES) {
        return { schema: { ...own, type: own['type'] ?? 'object' }, path };
      }
      const target = this.resolve(this.find($ref), [...path, $ref]);
      if (target === null) return null;
      merged = mergeSchemas(merged, target.schema);
      followed = target.path;
    }
    for (const part of Array.isArray(allOf) ? allOf.slice(0, MAX_PARTS) : []) {
      const resolved = this.resolve(part, followed);
      if (resolved === null) return null;
      merged = mergeSchemas(merged, resolved.schema);
      followed = resolved.path;
    }
    return { schema: merged, path: followed };
  }

  private find(reference: string): JsonValue | undefined {
    const named = this.named.get(reference);
    if (named !== undefined) return named;
    if (!/^#(?:\/|$)/.test(reference)) return undefined;
    let value: JsonValue | undefined = this.root;
    for (const part of reference.slice(1).split('/').slice(1)) {
      const key = decodePointer(part);
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
        return undefined;
      value = (value as Readonly<Record<string, JsonValue | undefined>>)[key];
    }
    return value;
  }
}

function decodePointer(part: string): string {
  const plain = part.includes('%') ? decodePercent(part) : part;
  return plain.replaceAll('~1', '/').replaceAll('~0', '~');
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The text contains a `%` that encodes nothing, so it stands for itself.
    return text;
  }
}

/**
 * Returns a schema for values that match both schemas, as far as the kept keywords can say so. A keyword that both have
 * is taken from the first one, except those that can be combined.
 */
export function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const properties = mergeProperties(first['properties'], second['properties']);
  const required = [...toList(first['required']), ...toList(second['required'])];
  return {
    ...second,
    ...first,
    ...(properties === undefined ? {} : { properties }),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  };
}

function mergeProperties(
  first: JsonValue | undefined,
  second: JsonValue | undefined,
): JsonObject | undefined {
  if (!isJsonObject(first)) return isJsonObject(second) ? second : undefined;
  if (!isJsonObject(second)) return first;
  const both = Object.entries(second).map(([name, schema]) => {
    const other = Object.hasOwn(first, name) ? first[name] : undefined;
    return [
      name,
      other === undefined || schema === undefined ? schema : { allOf: [other, schema] },
    ];
  });
  return { ...first, ...Object.fromEntries(both) };
}

function toList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
