import { createHash } from 'node:crypto';
import type { McpConfinement } from '../protocol/permission.ts';
import type { OAuthSettings } from './oauth-settings.ts';

/** A server that Muster starts as a process and talks to through its stdin and stdout. */
export interface StdioTransport {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** The variables that the server gets in addition to the clean environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The directory of the process. Null for the directory of the task. */
  readonly cwd: string | null;
}

/** A server that is reached by HTTP: `http` is streamable HTTP, `sse` is the transport before it. */
export interface HttpTransport {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A command line for a shell that prints more headers as a JSON object. It runs before each connection. */
  readonly headersHelper: string | null;
  /** The settings for a login. Default: none; a server may require a login all the same. */
  readonly oauth?: OAuthSettings;
}

export type McpTransport = StdioTransport | HttpTransport;

/** Time limits of a server in milliseconds. */
export interface McpServerLimits {
  /** The time until the server has answered the first request. */
  readonly startMs: number;
  /** The time for which a call may show no sign of life. Progress is a sign of life. */
  readonly silenceMs: number;
  /** The time that a call may take in total. */
  readonly callMs: number;
  /** The time that a call may take in total if the server carries it out as a task. */
  readonly taskMs: number;
  /** The time without use after which the server is stopped. */
  readonly idleMs: number;
}

export const DEFAULT_MCP_LIMITS: McpServerLimits = {
  startMs: 30_000,
  silenceMs: 60_000,
  callMs: 600_000,
  taskMs: 86_400_000,
  idleMs: 600_000,
};

/** The place in which a server is defined. */
export interface McpServerOrigin {
  /** `project`: the file belongs to a project, so it needs trust. `user`: the file belongs to the user. */
  readonly scope: 'project' | 'user';
  readonly file: string;
  /** The name of the agent definition that contains the entry. Default: none. */
  readonly definition?: string;
  /** The name of the plugin that contains the entry, which is then treated as that of a project. Default: none. */
  readonly plugin?: string;
}

/** The tools of a server that Muster offers. */
export interface McpToolFilter {
  /** The only tools that are offered, by the server's own names. Null for all. */
  readonly only: readonly string[] | null;
  readonly except: readonly string[];
}

/**
 * A server as its file describes it. Texts of the transport may contain `${VAR}`, which `expandTransport` replaces
 * only when the server starts, so that an entry contains no secrets of the environment.
 */
export interface McpServerEntry {
  readonly name: string;
  readonly origin: McpServerOrigin;
  readonly transport: McpTransport;
  readonly limits: McpServerLimits;
  readonly isEnabled: boolean;
  /** Whether the server shall run in the sandbox. Null if the file does not say so: see `findConfinement`. */
  readonly sandbox: boolean | null;
  /** Whether each user of the entry gets a connection of its own. */
  readonly hasOwnConnection: boolean;
  readonly tools: McpToolFilter;
}

/** Tells whether the process of a server always runs in the sandbox. The servers of a project do. */
export function runsInSandbox({ sandbox, origin }: McpServerEntry): boolean {
  return origin.scope === 'project' || sandbox === true;
}

/** Returns how a server is confined; null if nothing confines it. */
export function findConfinement(entry: McpServerEntry): McpConfinement | null {
  if (entry.transport.type !== 'stdio') return 'remote';
  if (runsInSandbox(entry)) return 'sandbox';
  return runsInWorkspaceSandbox(entry) ? 'workspace' : null;
}

/** Tells whether the process of a server runs in the sandbox when it is started for a workspace and there is a sandbox. */
export function runsInWorkspaceSandbox(entry: McpServerEntry): boolean {
  return runsInSandbox(entry) || entry.sandbox === null;
}

/** Returns the name by which people mean a server: `NAME`, or `AGENT/NAME` for one of a definition. */
export function serverId({ name, origin }: Pick<McpServerEntry, 'name' | 'origin'>): string {
  return origin.definition === undefined ? name : `${origin.definition}/${name}`;
}

/**
 * Tells whether each task that uses a server has a use of its own, which ends with the task: if the server belongs to a
 * definition, or if its entry asks for own connections.
 */
export function isUsedPerTask({ hasOwnConnection, origin }: McpServerEntry): boolean {
  return hasOwnConnection || origin.definition !== undefined;
}

/**
 * Returns a hash of everything in an entry that changes what the server is or may do. Two entries with the same
 * fingerprint can share a connection, and a user's trust in an entry holds as long as its fingerprint is the same.
 */
export function fingerprintServer(entry: McpServerEntry): string {
  const { name, origin, transport, limits, hasOwnConnection, tools } = entry;
  // The user's trust in a project's server does not extend to an equal entry of another project.
  const place = origin.scope === 'project' ? origin.file : origin.scope;
  // A server of a definition is not the same as an equal one of another definition.
  const owner =
    origin.definition === undefined ? place : [origin.scope, origin.file, origin.definition];
  const { taskMs, ...older } = limits;
  // The limit for tasks changes nothing in the fingerprints of the entries that were accepted before there was one.
  const known = taskMs === DEFAULT_MCP_LIMITS.taskMs ? older : limits;
  const content = [name, owner, transport, known, runsInSandbox(entry), hasOwnConnection];
  return createHash('sha256')
    .update(JSON.stringify(sortKeys([...content, tools])))
    .digest('hex');
}

/** Returns a copy whose objects have their keys in alphabetical order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, item]) => [key, sortKeys(item)]));
}
