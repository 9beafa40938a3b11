import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { Fields } from '../../parsing/fields.ts';
import { text } from '../../fields/common.ts';
import { serverTools } from '../../fields/mcp-names.ts';

/**
 * `extensions` as `tools`: nothing but what is listed can be used. Without it goose gives what its user
 * has switched on, so that all tools stay.
 */
export function withExtensions(fields: Fields): Fields {
  const extensions = fields.get('extensions');
  if (extensions === undefined) return fields;
  const { value, line } = extensions;
  const others = [...fields].filter(([key]) => key !== 'extensions');
  if (value === null) return new Map(others);
  const tools = Array.isArray(value) ? value.flatMap(extensionTools) : value;
  return new Map([...others, ['tools', { value: tools, line }]]);
}

/** Kinds of extensions that bring tools of their own, which here are those of an MCP server. */
const SERVERS: ReadonlySet<string> = new Set([
  'stdio',
  'sse',
  'streamable_http',
  'frontend',
  'inline_python',
]);

/** Names of goose's own extensions that have another one here. */
const OWN: ReadonlyMap<string, string> = new Map([
  ['summon', 'Task'],
  ['skills', 'Skill'],
]);

/** Tools of goose's own extensions, where only some of them are `available_tools`. */
const OWN_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text_editor', ['Read', 'Write', 'Edit']],
  ['tree', ['LS']],
  ['load', ['Skill']],
]);

/** Words for tools; what is no extension stands as it is, for a warning to name. */
function extensionTools(extension: JsonValue): readonly string[] {
  const name = text(isJsonObject(extension) ? extension['name'] : extension);
  if (name === undefined) return ['?'];
  const available = isJsonObject(extension) ? extension['available_tools'] : undefined;
  const some = Array.isArray(available) ? available.map((each) => text(each) ?? '?') : [];
  const isServer = isJsonObject(extension) && SERVERS.has(text(extension['type']) ?? '');
  if (isServer) {
    return some.length === 0 ? [serverTools(name)] : some.map((tool) => serverTools(name, tool));
  }
  const word = OWN.get(name) ?? name;
  if (some.length === 0) return [word];
  return some.flatMap((tool) => OWN_TOOLS.get(tool) ?? [tool]);
}
