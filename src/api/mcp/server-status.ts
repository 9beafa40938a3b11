import { MusterError } from '../../base/errors.ts';
import type { ToolChange } from '../../mcp/recorded-tools.ts';

/**
 * The state of a server:
 * - `disabled`: its entry or the user has disabled it.
 * - `unused`: it was never asked for its tools.
 * - `idle`: it does not run, and starts with the first call.
 * - `connecting`, `connected`: it starts or runs.
 * - `changed`: it offers other tools than the user has accepted.
 * - `login`: it requires a login.
 * - `failed`: it could not be started, or has ended by itself.
 */
export type ServerState =
  | 'disabled'
  | 'unused'
  | 'idle'
  | 'connecting'
  | 'connected'
  | 'changed'
  | 'login'
  | 'failed';

/** A server for people. All texts of the server are untrusted. */
export interface ServerStatus {
  /** The name by which people mean it: `NAME`, or `AGENT/NAME` for a server of a definition. */
  readonly id: string;
  readonly name: string;
  readonly state: ServerState;
  readonly scope: 'user' | 'project';
  /** The file that defines it. */
  readonly file: string;
  /** The agent whose definition contains it; null for a configured server. */
  readonly agent: string | null;
  /** The command line or the URL, with keys masked. */
  readonly target: string;
  readonly isSandboxed: boolean;
  /** The accepted tools; null if it was never asked. */
  readonly tools: readonly { readonly name: string; readonly description: string }[] | null;
  readonly change: Omit<ToolChange, 'server'> | null;
  /** The reason of the last failure; null if it has been started since. */
  readonly error: string | null;
  /** The end of what its process has printed to stderr. */
  readonly errorOutput: string;
  /** Its name and version, the revision of the protocol, and what it offers; null if it does not run. */
  readonly running: {
    readonly title: string;
    readonly protocol: string;
    readonly offers: readonly string[];
    /** The number of its processes or connections. */
    readonly connections: number;
    /** The directories of the workspaces for which it runs. */
    readonly workspaces: readonly string[];
    readonly activeRequests: number;
  } | null;
  /** The text of the server about its use; empty if it has none or was never asked. */
  readonly instructions: string;
}

/** The MCP servers of a process, for people. */
export interface ServerBoard {
  list(): readonly ServerStatus[];
  /** Calls the listener when `list` may have changed, until the returned function is called. */
  watch(listener: () => void): () => void;
  /**
   * Starts a server, after ending it if it runs, and compares its tools with the accepted ones. Rejects with MusterError if
   * that is not possible.
   */
  restart(id: string): Promise<void>;
  /** Accepts the tools that a server offers now, for tasks that begin from now on. Rejects with MusterError. */
  accept(id: string): Promise<void>;
  /**
   * Enables or disables a server in this process. The tools of tasks at work stay; calls of a disabled server are
   * refused. Throws MusterError `NOT_FOUND`.
   */
  setEnabled(id: string, isEnabled: boolean): void;
}

/** The board of a process without servers. */
export const NO_SERVERS: ServerBoard = {
  list: () => [],
  watch: () => () => {},
  restart: (id) => Promise.reject(serverNotFound(id)),
  accept: (id) => Promise.reject(serverNotFound(id)),
  setEnabled: (id) => {
    throw serverNotFound(id);
  },
};

export function serverNotFound(id: string): MusterError {
  return new MusterError('NOT_FOUND', `there is no MCP server "${id}"; /mcp lists them`);
}
