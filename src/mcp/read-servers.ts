import { isJsonObject } from '../base/json.ts';
import { parseJsonc } from '../base/jsonc.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { plural } from '../base/text.ts';
import type { EntryProblem } from './entry-fields.ts';
import { readServerEntry } from './read-entry.ts';
import type { McpServerEntry, McpServerOrigin } from './server-entry.ts';

/** The name of a project's file. The project must be trusted before the file is read. */
export const PROJECT_MCP_FILE = '.mcp.json';
/** The name of the user's file in the directory of Muster's configuration. */
export const USER_MCP_FILE = 'mcp.json';
/** The maximum size of a file with servers, in bytes. */
export const MAX_MCP_FILE_BYTES = 1_048_576;

/** The maximum number of servers in one place. */
const MAX_SERVERS = 200;
/** The keys under which products keep their servers. */
const SERVER_KEYS = ['mcpServers', 'servers', 'mcp', 'mcp_servers', 'mcp-servers'];
/** The fields by which the entry of a server is recognized in a file without one of these keys. */
const ENTRY_FIELDS = ['command', 'url', 'httpUrl', 'serverUrl'];
/** A server name: one line of visible characters. */
const SERVER_NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u;

/** A problem with a file of servers, or with one server or field in it. */
export interface McpConfigProblem extends EntryProblem {
  readonly file: string;
  /** The name of the server. Null if the problem is about the file as a whole. */
  readonly server: string | null;
}

/** The servers that were found in one place. An entry with an error is left out, and the others remain. */
export interface McpServerList {
  readonly entries: readonly McpServerEntry[];
  readonly problems: readonly McpConfigProblem[];
}

/** Describes a problem in a line that names the file, the server and the field. */
export function describeMcpProblem({ file, server, field, message }: McpConfigProblem): string {
  const where = [
    file,
    ...(server === null ? [] : [`server ${sanitizeLine(server)}`]),
    ...(field === null ? [] : [sanitizeLine(field)]),
  ];
  return `${where.join(': ')}: ${message}`;
}

/**
 * Reads a JSON file with servers, in the form of any product: `mcpServers` (Claude Code and most others), `servers`
 * (VS Code), `mcp` (OpenCode), or the servers alone. Comments are allowed. Never throws.
 */
export function readMcpFile(text: string, origin: McpServerOrigin): McpServerList {
  const parsed = parseJsonc(text);
  if (!parsed.ok) return fail(origin, `it is not valid JSON: ${parsed.message}`);
  if (!isJsonObject(parsed.value)) return fail(origin, 'it must contain a JSON object');
  const file: Readonly<Record<string, unknown>> = parsed.value;
  const maps = SERVER_KEYS.filter((key) => Object.hasOwn(file, key)).map((key) => file[key]);
  if (maps.length > 0)
    return joinServerLists(maps.map((map) => readMcpServers(unwrap(map), origin)));
  if (Object.values(file).some(looksLikeEntry) || Object.keys(file).length === 0) {
    return readMcpServers(file, origin);
  }
  return fail(origin, 'it has no mcpServers');
}

/** Returns the servers in VS Code's `"mcp": { "servers": … }`. */
function unwrap(map: unknown): unknown {
  return isJsonObject(map) && isJsonObject(map['servers']) && !looksLikeEntry(map['servers'])
    ? map['servers']
    : map;
}

function looksLikeEntry(value: unknown): boolean {
  return isJsonObject(value) && ENTRY_FIELDS.some((field) => Object.hasOwn(value, field));
}

/** Reads a map from server names to entries, such as `[mcp]` of the configuration file. Never throws. */
export function readMcpServers(map: unknown, origin: McpServerOrigin): McpServerList {
  if (!isJsonObject(map))
    return fail(origin, 'the servers must be an object with a name for each server');
  const named = Object.entries(map);
  const read = named.slice(0, MAX_SERVERS).map(([name, value]) => readNamed(name, value, origin));
  if (named.length <= MAX_SERVERS) return joinServerLists(read);
  const left = plural(named.length - MAX_SERVERS, 'server');
  return joinServerLists([
    ...read,
    fail(origin, `it has more than ${MAX_SERVERS} servers; ${left} left out`),
  ]);
}

function readNamed(name: string, value: unknown, origin: McpServerOrigin): McpServerList {
  const problem = (each: EntryProblem) => ({ ...each, file: origin.file, server: name });
  const error = (message: string): McpServerList => ({
    entries: [],
    problems: [problem({ field: null, message, severity: 'error' })],
  });
  if (!SERVER_NAME.test(name) || name.trim() !== name) {
    return error('the name must be one line of at most 100 visible characters');
  }
  if (!isJsonObject(value)) return error('the entry must be an object');
  const { entry, problems } = readServerEntry(name, value, origin);
  return { entries: entry === null ? [] : [entry], problems: problems.map(problem) };
}

/** The servers of an agent definition. */
export interface DefinitionServers extends McpServerList {
  /** The names of configured servers that the definition uses. */
  readonly names: readonly string[];
}

/**
 * Reads `mcpServers` of an agent definition: a list of names of configured servers and of objects with one entry each
 * (Claude Code), or a map from names to entries. A map whose value is true names a configured server. Never throws.
 */
export function readDefinitionServers(value: unknown, origin: McpServerOrigin): DefinitionServers {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const names = items.flatMap((item) => {
    if (typeof item === 'string') return item.split(',').map((name) => name.trim());
    return isJsonObject(item) ? Object.keys(item).filter((name) => item[name] === true) : [];
  });
  const lists = items.flatMap((item) => {
    if (typeof item === 'string') return [];
    if (!isJsonObject(item)) return [readMcpServers(item, origin)];
    const entries = Object.entries(item).filter(([, each]) => each !== true);
    return [readMcpServers(Object.fromEntries(entries), origin)];
  });
  return { ...joinServerLists(lists), names: [...new Set(names.filter((name) => name !== ''))] };
}

/**
 * Joins lists of servers. If several have a server of the same name, the first one counts, and each other one becomes
 * a warning.
 */
export function joinServerLists(lists: readonly McpServerList[]): McpServerList {
  const byName = new Map<string, McpServerEntry>();
  const hidden: McpConfigProblem[] = [];
  for (const entry of lists.flatMap(({ entries }) => entries)) {
    const first = byName.get(entry.name);
    if (first === undefined) byName.set(entry.name, entry);
    else hidden.push(createHiddenWarning(entry, first));
  }
  const problems = [...lists.flatMap((list) => list.problems), ...hidden];
  return { entries: [...byName.values()], problems };
}

function createHiddenWarning(entry: McpServerEntry, first: McpServerEntry): McpConfigProblem {
  return {
    file: entry.origin.file,
    server: entry.name,
    field: null,
    message: `the server of the same name in ${first.origin.file} is used instead`,
    severity: 'warning',
  };
}

function fail({ file }: McpServerOrigin, message: string): McpServerList {
  return {
    entries: [],
    problems: [{ file, server: null, field: null, message, severity: 'error' }],
  };
}
