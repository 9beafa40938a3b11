import type { JsonObject } from '../base/json.ts';
import { catalogueSchema } from './catalogue.ts';
import { KEY_BINDINGS } from './key-bindings.ts';
import { KEYS_BY_SECTION, type KeyEntry } from './key-entry.ts';
import { MCP_SECTION } from './mcp-tables.ts';
import { providersSchema } from './providers.ts';

/** The schemas of tables inside a section, which the table of keys does not contain. */
const TABLES: ReadonlyMap<string, () => JsonObject> = new Map([
  ['models', () => ({ providers: providersSchema(), catalogue: catalogueSchema() })],
]);

/**
 * Returns the JSON Schema (draft 7) of a configuration file. The schema accepts every file that Muster accepts. Rules
 * that a schema cannot express, such as the syntax of permission rules, are only checked when Muster starts.
 */
export function configSchema(): JsonObject {
  const sections = Array.from(KEYS_BY_SECTION, ([section, keys]) => [
    section,
    objectSchema({ ...keysSchema(keys), ...TABLES.get(section)?.() }),
  ]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: "Muster's configuration, as in config.toml",
    ...objectSchema({
      ...Object.fromEntries(sections),
      [KEY_BINDINGS]: keyBindingsSchema(),
      [MCP_SECTION]: mcpSchema(),
    }),
  };
}

function keysSchema(keys: ReadonlyMap<string, KeyEntry>): JsonObject {
  return Object.fromEntries(
    Array.from(keys, ([name, { spec }]) => [name, { description: spec.meaning, ...spec.schema }]),
  );
}

function keyBindingsSchema(): JsonObject {
  const key = { type: 'string' };
  return {
    type: 'object',
    description: 'keys of actions of the terminal UI; only in your own file',
    additionalProperties: { anyOf: [key, { type: 'array', items: key }] },
  };
}

/** The entries are not described, because they may use the spellings of any product. */
function mcpSchema(): JsonObject {
  return {
    type: 'object',
    description: 'MCP servers by name, as in mcp.json; only in your own file',
    additionalProperties: { type: 'object' },
  };
}

function objectSchema(properties: JsonObject): JsonObject {
  return { type: 'object', properties, additionalProperties: false };
}
