import { isTomlTable } from '../base/toml-statements.ts';
import { escapeLine } from './message-text.ts';
import type { TomlFile } from './parse-toml.ts';
import type { ConfigProblem } from './setting.ts';

/** The section of the user's configuration file that contains MCP servers. */
export const MCP_SECTION = 'mcp';

/** The MCP servers of the user's configuration file, as they are written there. The reader of servers checks them. */
export interface McpTables {
  /** The configuration file. */
  readonly file: string;
  readonly servers: ReadonlyMap<string, McpTable>;
}

/** The table `[mcp.NAME]` of one server. */
export interface McpTable {
  readonly table: Readonly<Record<string, unknown>>;
  /** The location of the table, as `FILE:LINE`. */
  readonly where: string;
}

export interface McpTablesReading {
  /** The servers; null if there are none. */
  readonly tables: McpTables | null;
  readonly problems: readonly ConfigProblem[];
}

/** Reads `[mcp.NAME]` of a file. */
export function readMcpTables(value: unknown, file: TomlFile): McpTablesReading {
  if (!isTomlTable(value)) {
    const where = file.where([MCP_SECTION]);
    return { tables: null, problems: [{ where, message: `write it as [${MCP_SECTION}.NAME]` }] };
  }
  const servers = new Map<string, McpTable>();
  const problems: ConfigProblem[] = [];
  for (const [name, table] of Object.entries(value)) {
    const where = file.where([MCP_SECTION, name]);
    if (isTomlTable(table)) servers.set(name, { table, where });
    else {
      const message = `write it as a table: [${MCP_SECTION}.${escapeLine(name)}]`;
      problems.push({ where, message });
    }
  }
  return { tables: servers.size === 0 ? null : { file: file.path, servers }, problems };
}
