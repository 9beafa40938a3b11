import type { AgentDefinition, ToolSelection } from '../../../protocol/agent.ts';
import { CORE_TOOLS } from '../../../protocol/tool-names.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { textList } from '../../fields/common.ts';
import type { FormatReader } from '../../loader/format.ts';
import { mcpServerTools } from '../../fields/tool-grants.ts';
import {
  readMarkdownAgent,
  type AgentDialect,
  type SharedFields,
} from '../../fields/read-agent.ts';

const FACTORY: AgentDialect = {
  vendor: 'factory',
  inactive: ['mcp-servers'],
  own: { names: ['mcp-servers'], read: readServers },
};

/** Reads Factory's droids. */
export const factoryReader: FormatReader = { read: (file) => readMarkdownAgent(file, FACTORY) };

/**
 * Reads `mcpServers: [linear]`, which limits the agent to the listed MCP servers. A map, in which other vendors define
 * servers for an agent, is not taken.
 */
function readServers(reader: FieldReader, shared: SharedFields): Partial<AgentDefinition> {
  const { tools, disallowedTools, unusable } = shared;
  const field = reader.peek('mcp-servers');
  if (field === undefined || !Array.isArray(field.value) || unusable !== undefined) return {};
  reader.take('mcp-servers');
  const servers = textList(field.value).map((name) => mcpServerTools(name));
  if (servers.length > 0) return { tools: addServers(tools, servers) };
  return { disallowedTools: [...disallowedTools, 'mcp__*'] };
}

function addServers({ mode, names }: ToolSelection, servers: readonly string[]): ToolSelection {
  const others =
    mode === 'allow' ? names : CORE_TOOLS.filter((name) => mode === 'all' || !names.includes(name));
  return { mode: 'allow', names: [...new Set([...others, ...servers])] };
}
