import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

const MAX_DEPTH = 64;
const MAX_NODES = 100_000;

/**
 * Converts a parsed value of YAML (with maps as Map), TOML or JSON to JSON. Infinities, dates and the like become
 * strings. A `__proto__` key is left out, so that code that copies the object key by key is safe. Throws when the
 * value refers to itself, is nested more than 64 levels deep or has more than 100,000 parts.
 */
export function toJson(value: unknown): JsonValue {
  const budget = { nodes: MAX_NODES };
  return convert(value, 0, budget);
}

function convert(value: unknown, depth: number, budget: { nodes: number }): JsonValue {
  budget.nodes -= 1;
  if (budget.nodes < 0) throw new Error(`more than ${MAX_NODES} values in one file`);
  // A value that contains itself ends here, too.
  if (depth > MAX_DEPTH) throw new Error(`values nested more than ${MAX_DEPTH} deep`);
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map((item) => convert(item, depth + 1, budget));
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return convertEntries(value, depth, budget);
  if (isJsonObject(value)) return convertEntries(Object.entries(value), depth, budget);
  throw new Error(`a value of type ${typeof value} cannot be used in a definition file`);
}

function convertEntries(
  all: Iterable<readonly [unknown, unknown]>,
  depth: number,
  budget: { nodes: number },
): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [key, item] of all) {
    if (key !== '__proto__') entries.push([String(key), convert(item, depth + 1, budget)]);
  }
  return Object.fromEntries(entries);
}
