import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { ObjectSchema, ValueSchema } from './schema.ts';

/** Other name → canonical name, for the arguments of a tool and of the objects in its lists. */
export type ArgumentAliases = Readonly<Record<string, string>>;

/**
 * A model's arguments as the schema names and types them. Other names become the canonical ones
 * (which win where both are there), unknown ones are dropped, `null` counts as absent, and a number,
 * boolean or list that came as a string is read as what it says. What does not fit stays as it is,
 * for the check to refuse.
 */
export function canonicalArguments(
  input: JsonObject,
  aliases: ArgumentAliases,
  schema: ObjectSchema,
): JsonObject {
  const named = new Map<string, JsonValue>();
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    const isCanonical = Object.hasOwn(schema.properties, key);
    const name = isCanonical || !Object.hasOwn(aliases, key) ? key : (aliases[key] ?? key);
    const wanted = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (wanted === undefined || (!isCanonical && named.has(name))) continue;
    named.set(name, coerce(value, wanted, aliases));
  }
  return Object.fromEntries(named);
}

function coerce(value: JsonValue, schema: ValueSchema, aliases: ArgumentAliases): JsonValue {
  const read = typeof value === 'string' ? fromString(value, schema.type) : value;
  if (schema.type !== 'array' || schema.items.type !== 'object' || !Array.isArray(read))
    return read;
  const { items } = schema;
  return read.map((item: JsonValue) =>
    isJsonObject(item) ? canonicalArguments(item, aliases, items) : item,
  );
}

function fromString(text: string, type: ValueSchema['type']): JsonValue {
  switch (type) {
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text);
    case 'array':
      return parsedList(text) ?? text;
    case 'string':
    case 'object':
      return text;
  }
}

function parsedList(text: string): JsonValue | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    // Not JSON: the check says what it should be.
    return undefined;
  }
}
