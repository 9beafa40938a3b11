import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { AgentDefinition, ToolSelection } from '../../protocol/agent.ts';
import { canNameServer } from '../../protocol/server-tool-names.ts';
import { CORE_TOOLS } from '../../protocol/tool-names.ts';
import type { FieldReader } from './field-reader.ts';
import { fieldText, textList } from './common.ts';
import type { SharedFields } from './read-agent.ts';
import { mcpServerTools } from './tool-grants.ts';

/** The name of the field with the MCP servers of an agent. */
export const SERVERS_FIELD = 'mcp-servers';

/**
 * Reads `mcpServers: [linear]`, which limits the agent to the MCP servers that it names. The names may also be a
 * comma-separated text, or the keys of a map. An item may be a map from a name to the entry of a server that only this
 * agent has; whether the entry is right is checked where the server is opened. An item of another shape gives no server
 * and is reported.
 */
export function readServerNames(
  reader: FieldReader,
  { tools, disallowedTools, unusable }: SharedFields,
): Partial<AgentDefinition> {
  if (unusable !== undefined) return {};
  const field = reader.take(SERVERS_FIELD);
  if (field === undefined) return {};
  const { names, defined, invalid } = readEntries(field.value);
  if (invalid) {
    const message =
      '`mcpServers` must be a list of names of servers or of maps from names to entries; anything else gives the agent no server.';
    reader.warn('invalid-servers', message, field.line, 'mcp__*');
  }
  const servers = [...new Set(names)].map((name) => mcpServerTools(name));
  const own = Object.fromEntries(defined);
  const entries = defined.length === 0 ? {} : { servers: own };
  if (servers.length > 0) return { tools: addServers(tools, servers), ...entries };
  return { disallowedTools: [...disallowedTools, 'mcp__*'] };
}

/** The servers that a value names. */
interface ServerEntries {
  readonly names: readonly string[];
  /** The entries of servers that come with their names. */
  readonly defined: readonly (readonly [name: string, entry: JsonObject])[];
  /** True if a part of the value is not the name of a server. */
  readonly invalid: boolean;
}

function readEntries(value: JsonValue): ServerEntries {
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) =>
      isJsonObject(item) ? readMap(Object.entries(item)) : readNames([item]),
    );
    return {
      names: items.flatMap(({ names }) => names),
      defined: items.flatMap(({ defined }) => defined),
      invalid: items.some(({ invalid }) => invalid),
    };
  }
  if (isJsonObject(value)) return readMap(Object.entries(value));
  const names = typeof value === 'string' ? textList(value) : [];
  return { names, defined: [], invalid: names.length === 0 };
}

function readNames(values: readonly JsonValue[]): ServerEntries {
  const names = values.map((item) => fieldText(item)).filter((name) => name !== undefined);
  return { names, defined: [], invalid: names.length < values.length };
}

/** Reads the keys of a map. A key whose value can be no definition, such as `command: serve`, names no server. */
function readMap(entries: readonly (readonly [string, JsonValue | undefined])[]): ServerEntries {
  const valid = entries.filter(
    ([name, value]) =>
      fieldText(name) !== undefined && (isJsonObject(value) || value === null || value === true),
  );
  return {
    names: valid.map(([name]) => name),
    defined: valid.flatMap(([name, value]) =>
      isJsonObject(value) && Object.keys(value).length > 0 ? [[name, value] as const] : [],
    ),
    invalid: valid.length < entries.length,
  };
}

/** Adds the tools of servers to a selection. A selection that names tools of a server keeps only these. */
function addServers({ mode, names }: ToolSelection, servers: readonly string[]): ToolSelection {
  const hasOwn = (pattern: string): boolean => {
    const [, part = ''] = pattern.split('__');
    return mode === 'allow' && names.some((name) => canNameServer(name, part));
  };
  const others =
    mode === 'allow' ? names : CORE_TOOLS.filter((name) => mode === 'all' || !names.includes(name));
  return {
    mode: 'allow',
    names: [...new Set([...others, ...servers.filter((pattern) => !hasOwn(pattern))])],
  };
}
