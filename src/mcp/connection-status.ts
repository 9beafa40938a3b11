import type { McpServerInfo } from './server-data.ts';
import type { McpServerError } from './server-error.ts';

/**
 * The state of a connection:
 * - `stopped`: the server does not run, and starts at the next use.
 * - `starting`, `ready`: the server starts or runs.
 * - `waiting`: the server has failed and starts again in a moment.
 * - `failed`: the server has failed too often. It starts again only after `retry`.
 * - `closed`: the connection is not used any more.
 */
export type McpConnectionState = 'stopped' | 'starting' | 'ready' | 'waiting' | 'failed' | 'closed';

/** The state of a connection for people. */
export interface ConnectionStatus {
  readonly state: McpConnectionState;
  readonly users: number;
  readonly activeRequests: number;
  readonly info: McpServerInfo | null;
  /** The last failure; null if the server has been started since. */
  readonly failure: McpServerError | null;
  /** The end of what its process has printed to stderr. */
  readonly errorOutput: string;
}

/** A request and the name of the call to which it belongs. */
export interface ConnectionUse {
  readonly signal: AbortSignal;
  /** An id of the caller, by which a question of the server finds its task. Default: none. */
  readonly callId?: string | undefined;
  /** The time that the request may take in total. Default: that of the entry for a call. */
  readonly maxMs?: number | undefined;
}
