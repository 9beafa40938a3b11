import type { AgentDefinition, ToolSelection } from '../../protocol/agent.ts';
import { CORE_TOOLS } from '../../protocol/tool-names.ts';
import type { FieldReader } from './field-reader.ts';
import { textList } from './common.ts';
import type { SharedFields } from './read-agent.ts';
import { mcpServerTools } from './tool-grants.ts';

/** The name of the field with the MCP servers of an agent. */
export const SERVERS_FIELD = 'mcp-servers';

/**
 * Reads `mcpServers: [linear]`, which limits the agent to the listed MCP servers of the configuration. A value that
 * defines servers for the agent is not taken.
 */
export function readServerNames(
  reader: FieldReader,
  { tools, disallowedTools, unusable }: SharedFields,
): Partial<AgentDefinition> {
  const value = reader.peek(SERVERS_FIELD)?.value;
  const isNames = Array.isArray(value) && value.every((item) => typeof item === 'string');
  if (!isNames || unusable !== undefined) return {};
  reader.take(SERVERS_FIELD);
  const servers = textList(value).map((name) => mcpServerTools(name));
  if (servers.length > 0) return { tools: addServers(tools, servers) };
  return { disallowedTools: [...disallowedTools, 'mcp__*'] };
}

function addServers({ mode, names }: ToolSelection, servers: readonly string[]): ToolSelection {
  const others =
    mode === 'allow' ? names : CORE_TOOLS.filter((name) => mode === 'all' || !names.includes(name));
  return { mode: 'allow', names: [...new Set([...others, ...servers])] };
}
