import { byteLength, truncate } from '../../base/text.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { escapeTags } from '../../base/control-tags.ts';
import type { McpServerTools } from '../../protocol/mcp.ts';
import { isResourceTool, RESOURCE_TOOL, TOOL_FINDER_TOOLS } from '../../protocol/tool-names.ts';
import type { AnyTool } from '../../protocol/tool.ts';

/** The maximum size of a server's line in the prompt, in UTF-16 units. */
const MAX_ABOUT_LENGTH = 120;
/** The maximum size of the names of all tools in the prompt. With more, only the servers are listed. */
const MAX_NAMES_BYTES = 2_048;

/** The tools of a task, as far as its requests list them. */
export interface ListedTools {
  /** The tools that every request lists. */
  readonly listed: readonly AnyTool[];
  /** One line for each server whose tools are not listed. Empty if all tools are listed. */
  readonly servers: readonly string[];
}

/**
 * Selects the tools that the requests of a task list. If the tools of MCP servers would take too much of every request,
 * none of them is listed: the model finds them with ToolSearch and calls them with McpCall, so that the list of tools
 * never changes.
 *
 * @param tools all tools of the task, with the tools that find and call others
 * @param maxBytes the size up to which the tools of servers are listed
 */
export function selectListedTools(
  tools: readonly AnyTool[],
  servers: readonly McpServerTools[],
  maxBytes: number,
): ListedTools {
  const serverTools = tools.filter(({ name }) => isListable(name));
  const readable = tools.flatMap(({ name }) => (isResourceTool(name) ? [toPart(name)] : []));
  const all = tools.flatMap((tool) =>
    tool.name === RESOURCE_TOOL
      ? nameServers(tool, readable)
      : isResourceTool(tool.name)
        ? []
        : tool,
  );
  const others = all.filter(({ name }) => !isMcpTool(name));
  const bytes = serverTools.reduce((sum, tool) => sum + measureTool(tool), 0);
  if (bytes <= maxBytes) {
    const finders = new Set<string>(TOOL_FINDER_TOOLS);
    return { listed: all.filter(({ name }) => !finders.has(name)), servers: [] };
  }
  const names = new Set(serverTools.map(({ name }) => name));
  const shown = servers.filter((server) => server.tools.some(({ name }) => names.has(name)));
  const showsNames = [...names].reduce((sum, name) => sum + name.length + 2, 0) <= MAX_NAMES_BYTES;
  return {
    listed: others,
    servers: shown.map((server) => {
      const own = server.tools.map(({ name }) => name).filter((name) => names.has(name));
      return formatServer(server, own, { showsNames });
    }),
  };
}

/** Tells whether a tool belongs to an MCP server. */
export function isMcpTool(name: string): boolean {
  return name.startsWith('mcp__');
}

/** Tells whether requests may list a tool of a server. Those that read resources are called by means of McpResource. */
function isListable(name: string): boolean {
  return isMcpTool(name) && !isResourceTool(name);
}

/** Returns the server's part of the name of the tool that reads its resources. */
function toPart(name: string): string {
  return name.slice('mcp__'.length, -`__${RESOURCE_TOOL}`.length);
}

/** Adds the servers that a task may use to the schema of McpResource. Without one, the task does not have the tool. */
function nameServers(tool: AnyTool, parts: readonly string[]): readonly AnyTool[] {
  if (parts.length === 0) return [];
  const server = { type: 'string', enum: [...new Set(parts)].toSorted() };
  const inputSchema = { ...tool.inputSchema, properties: { server, uri: { type: 'string' } } };
  return [{ ...tool, inputSchema }];
}

/** The size of a tool in a request, in bytes. The measure of an object is kept. */
function measureTool(tool: AnyTool): number {
  const known = sizes.get(tool);
  if (known !== undefined) return known;
  const { name, description, inputSchema } = tool;
  const size = byteLength(JSON.stringify({ name, description, inputSchema }));
  sizes.set(tool, size);
  return size;
}

const sizes = new WeakMap<AnyTool, number>();

function formatServer(
  { part, about }: McpServerTools,
  tools: readonly string[],
  { showsNames }: { readonly showsNames: boolean },
): string {
  const text = truncate(escapeTags(sanitizeLine(about)), MAX_ABOUT_LENGTH);
  const names = showsNames ? `: ${tools.join(', ')}` : '';
  return `mcp__${part} (${tools.length} tools)${text === '' ? '' : ` ${text}`}${names}`;
}
