import { byteLength, truncate } from '../../base/text.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { escapeTags } from '../../base/control-tags.ts';
import type { McpServerTools } from '../../protocol/mcp.ts';
import { TOOL_FINDER_TOOLS } from '../../protocol/tool-names.ts';
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
 * @param tools all tools of the task, with the two tools that find and call others
 * @param maxBytes the size up to which the tools of servers are listed
 */
export function selectListedTools(
  tools: readonly AnyTool[],
  servers: readonly McpServerTools[],
  maxBytes: number,
): ListedTools {
  const serverTools = tools.filter(({ name }) => isMcpTool(name));
  const others = tools.filter(({ name }) => !isMcpTool(name));
  const bytes = serverTools.reduce((sum, tool) => sum + measureTool(tool), 0);
  if (bytes <= maxBytes) {
    const finders = new Set<string>(TOOL_FINDER_TOOLS);
    return { listed: tools.filter(({ name }) => !finders.has(name)), servers: [] };
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
