import type { McpServer } from '@agentclientprotocol/sdk/unstable';
import { UsageError } from '../../base/errors.ts';

/**
 * Converts the MCP servers that a client passes on to entries of `[mcp.NAME]`. They count as the user's own, because the client acts
 * for its user. Throws UsageError for a server of a kind that Muster cannot reach.
 */
export function toServerTables(
  servers: readonly McpServer[],
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return Object.fromEntries(servers.map((server) => [server.name, toTable(server)]));
}

function toTable(server: McpServer): Readonly<Record<string, unknown>> {
  if (!('type' in server)) {
    const { command, args, env } = server;
    return { command, args, env: toRecord(env) };
  }
  if (server.type === 'http' || server.type === 'sse') {
    return { type: server.type, url: server.url, headers: toRecord(server.headers) };
  }
  throw new UsageError(
    `mcpServers: ${JSON.stringify(server.name)} has the type ${JSON.stringify(server.type)}; Muster reaches servers over stdio, http and sse`,
  );
}

function toRecord(
  pairs: readonly { readonly name: string; readonly value: string }[] = [],
): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
