import { errorMessage, MusterError, type ErrorCode } from '../base/errors.ts';
import { toShellWord } from '../base/text.ts';

/**
 * The reason why a server could not do what it was asked for:
 * - `start`: the server could not be started, or the connection could not be opened.
 * - `login`: the server requires a login.
 * - `lost`: the connection ended while the request was running.
 * - `timeout`: the request showed no sign of life, or took too long in total.
 * - `cancelled`: the caller's signal was aborted.
 * - `refused`: the server answered with an error.
 * - `invalid`: the answer is not what the protocol requires.
 * - `unsupported`: the server does not offer the feature.
 * - `limit`: a limit of Muster does not allow it now.
 * - `closed`: Muster has closed all connections.
 */
export type McpFailureKind =
  | 'start'
  | 'login'
  | 'lost'
  | 'timeout'
  | 'cancelled'
  | 'refused'
  | 'invalid'
  | 'unsupported'
  | 'limit'
  | 'closed';

const ERROR_CODE_OF: Readonly<Record<McpFailureKind, ErrorCode>> = {
  start: 'PROVIDER_ERROR',
  login: 'PERMISSION_DENIED',
  lost: 'PROVIDER_ERROR',
  timeout: 'TIMEOUT',
  cancelled: 'CANCELLED',
  refused: 'PROVIDER_ERROR',
  invalid: 'PROVIDER_ERROR',
  unsupported: 'INVALID_PARAM',
  limit: 'LIMIT_EXCEEDED',
  closed: 'CANCELLED',
};

/** Details of a failure of a server. */
export interface McpFailure {
  readonly server: string;
  readonly kind: McpFailureKind;
  /** Whether the server may have carried out the request or a part of it. Default: false. */
  readonly isOutcomeUnknown?: boolean;
  readonly cause?: unknown;
}

/** Says how a person logs in to a server, as the end of a message. */
export function describeLoginCommand(server: string): string {
  return `run "${formatLoginCommand(server)}"`;
}

/** Returns the command with which a person logs in to a server. Its name may come from a file of somebody else. */
export function formatLoginCommand(server: string): string {
  return `muster mcp login ${toShellWord(server)}`;
}

/** A failure of an MCP server. Its message names the server. */
export class McpServerError extends MusterError {
  override readonly name = 'McpServerError';
  readonly server: string;
  readonly kind: McpFailureKind;
  readonly isOutcomeUnknown: boolean;
  /** The message without the name of the server. */
  readonly reason: string;

  constructor(reason: string, { server, kind, isOutcomeUnknown = false, cause }: McpFailure) {
    const isRetryable = kind === 'lost' || kind === 'timeout' || kind === 'start';
    super(ERROR_CODE_OF[kind], `MCP server ${server}: ${reason}`, {
      retryable: isRetryable,
      cause,
    });
    this.server = server;
    this.reason = reason;
    this.kind = kind;
    this.isOutcomeUnknown = isOutcomeUnknown;
  }
}

/**
 * Makes the error of a server that could not be started. `tree`: the directory of the workspace for which it was to start,
 * which the error names; null for the directories of the session.
 */
export function toStartError(thrown: unknown, server: string, tree: string | null): McpServerError {
  const isOfServer = thrown instanceof McpServerError;
  if (isOfServer && (tree === null || thrown.kind === 'login')) return thrown;
  const reason = isOfServer ? thrown.reason : errorMessage(thrown);
  const kind = isOfServer ? thrown.kind : 'start';
  const where = tree === null ? '' : `in the workspace ${tree}, `;
  return new McpServerError(`${where}${reason}`, { server, kind, cause: thrown });
}
