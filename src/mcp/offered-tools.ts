import { createHash } from 'node:crypto';
import type { JsonObject } from '../base/json.ts';
import type { McpTool, McpToolAnnotations } from './server-data.ts';
import { cleanDescription } from './tool-description.ts';
import { buildMcpToolNames } from './tool-names.ts';
import { convertToolSchema } from './tool-schema.ts';

/** A tool of a server in the form in which models see it. */
export interface OfferedMcpTool {
  /** `mcp__SERVER__TOOL`. */
  readonly name: string;
  readonly server: string;
  /** The server's own name for the tool. */
  readonly tool: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Gives the arguments of a call the names of properties that the server knows. */
  readonly restoreArguments: (args: JsonObject) => JsonObject;
  /** Hints for people. They never decide about rights. */
  readonly annotations: McpToolAnnotations;
  /** A hash of everything that the server says about the tool. It changes when the server changes its mind. */
  readonly fingerprint: string;
}

/** The tools of one server. */
export interface ServerTools {
  readonly server: string;
  readonly tools: readonly McpTool[];
}

/**
 * Converts the tools of all servers to the form in which models see them, sorted by name so that a request has the same
 * bytes whatever the order in which servers answer. Of several tools with one name in a server, the first counts.
 */
export function offerMcpTools(servers: readonly ServerTools[]): readonly OfferedMcpTool[] {
  const names = buildMcpToolNames(
    servers.map(({ server, tools }) => ({ server, tools: tools.map(({ name }) => name) })),
  );
  const offered = new Map<string, OfferedMcpTool>();
  for (const { server, tools } of servers) {
    for (const tool of tools) {
      const name = names.toName({ server, tool: tool.name });
      if (name !== undefined && !offered.has(name)) offered.set(name, offer(name, server, tool));
    }
  }
  return [...offered.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function offer(name: string, server: string, tool: McpTool): OfferedMcpTool {
  const { schema, restoreArguments } = convertToolSchema(tool.inputSchema);
  return {
    name,
    server,
    tool: tool.name,
    description: cleanDescription(tool.description),
    inputSchema: schema,
    restoreArguments,
    annotations: tool.annotations,
    fingerprint: createHash('sha256').update(JSON.stringify(tool)).digest('hex'),
  };
}
