import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import type { McpTables } from '../../config/mcp-tables.ts';
import { userConfigDirectory, type UserEnvironment } from '../../config/paths.ts';
import {
  joinServerLists,
  MAX_MCP_FILE_BYTES,
  PROJECT_MCP_FILE,
  readMcpFile,
  readMcpServers,
  USER_MCP_FILE,
  type McpServerList,
} from '../../mcp/read-servers.ts';
import type { McpServerOrigin } from '../../mcp/server-entry.ts';
import {
  describeExcessSize,
  explainUntrusted,
  readProjectFile,
  type ProjectTrust,
} from '../../sys/files/project-file.ts';

/** The places in which servers are looked for. */
export interface ServerSearch extends UserEnvironment {
  /** The project: absolute, real. */
  readonly project: string;
  readonly trust: ProjectTrust;
  /** The servers of the user's configuration file; null if there are none. */
  readonly tables: McpTables | null;
  /** The servers of the active plugins. */
  readonly pluginServers: readonly McpServerList[];
}

/**
 * Finds the configured MCP servers: those of the user's `mcp.json`, then those of the user's configuration file, then
 * those of active plugins, then those of the project's `.mcp.json` if the user trusts the file. Of servers with the same name, the first one counts.
 * Never throws.
 */
export function findServers(search: ServerSearch): McpServerList {
  return joinServerLists([
    ...readUserServers(search),
    ...search.pluginServers,
    readProjectServers(search),
  ]);
}

/** Returns the path of the user's file of servers. */
export function userServersFile(user: UserEnvironment): string {
  return join(userConfigDirectory(user), USER_MCP_FILE);
}

/** Reads the servers of the user's `mcp.json` and configuration file. Never throws. */
export function readUserServers(
  search: UserEnvironment & Pick<ServerSearch, 'tables'>,
): readonly McpServerList[] {
  return [readUserFile(search), readTables(search.tables)];
}

function readTables(tables: McpTables | null): McpServerList {
  if (tables === null) return NO_SERVERS;
  const { file, servers } = tables;
  const map = Object.fromEntries(Array.from(servers, ([name, { table }]) => [name, table]));
  return readMcpServers(map, { scope: 'user', file });
}

function readUserFile(search: UserEnvironment): McpServerList {
  const file = userServersFile(search);
  const origin: McpServerOrigin = { scope: 'user', file };
  try {
    const { size } = statSync(file);
    if (size > MAX_MCP_FILE_BYTES)
      return fail(origin, describeExcessSize(size, MAX_MCP_FILE_BYTES));
    return readMcpFile(readFileSync(file, 'utf8'), origin);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return NO_SERVERS;
    return fail(origin, `it cannot be read: ${errorMessage(thrown)}`);
  }
}

function readProjectServers({ project, trust }: ServerSearch): McpServerList {
  const file = join(project, PROJECT_MCP_FILE);
  const origin: McpServerOrigin = { scope: 'project', file };
  const request = {
    kind: 'mcp',
    path: file,
    boundary: project,
    maxBytes: MAX_MCP_FILE_BYTES,
  } as const;
  const reading = readProjectFile(request, trust);
  switch (reading.kind) {
    case 'absent':
      return NO_SERVERS;
    case 'untrusted':
      return fail(origin, reading.sizeProblem ?? explainUntrusted(reading.verdict));
    case 'refused':
      return fail(origin, reading.reason);
    case 'read':
      return readMcpFile(reading.bytes.toString('utf8'), origin);
  }
}

const NO_SERVERS: McpServerList = { entries: [], problems: [] };

function fail({ file }: McpServerOrigin, message: string): McpServerList {
  return {
    entries: [],
    problems: [{ file, server: null, field: null, message, severity: 'error' }],
  };
}
