import { errorMessage } from '../../base/errors.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { MessageTooLargeError } from '../../sys/http/web-fetch.ts';
import type { FailureKind, ModelFailure } from '../../protocol/model.ts';

/** The maximum number of characters of a server's text in the message of a failure. */
const MAX_TEXT_LENGTH = 500;

/** A failure of the work with an agent whose cause is known. */
export class A2aError extends Error {
  /** The kind of the failure. */
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The codes of errors of a connection over which nothing was sent, so that the request can be repeated. */
const NOT_SENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** The kinds of failures by HTTP status. */
const KINDS: ReadonlyMap<number, FailureKind> = new Map<number, FailureKind>([
  [401, 'auth'],
  [403, 'auth'],
  [404, 'not_found'],
  [413, 'too_large'],
  [429, 'rate_limit'],
  [503, 'overloaded'],
]);
const FIRST_ERROR = 400;
const FIRST_SERVER_ERROR = 500;

/**
 * Returns the failure for an error of the SDK or of the connection.
 *
 * @param name the name of the agent, for the message
 * @param status the HTTP status of the last response; null if there was none
 */
export function toA2aFailure(name: string, thrown: unknown, status: number | null): ModelFailure {
  if (thrown instanceof A2aError)
    return { kind: thrown.kind, message: `${name}: ${thrown.message}`, retryable: false };
  if (thrown instanceof MessageTooLargeError)
    return { kind: 'too_large', message: formatText(name, thrown), retryable: false };
  const code = findCode(thrown);
  if (code !== null) {
    const retryable = status === null && NOT_SENT.has(code);
    return { kind: 'connect', message: formatText(name, thrown), retryable };
  }
  const kind = toFailureKind(status);
  const retryable = kind === 'rate_limit' || kind === 'overloaded';
  const hint = kind === 'auth' ? '. Check `auth` of the agent' : '';
  const message = `${formatText(name, thrown)}${hint}`;
  return { kind, message, retryable, ...(status === null ? {} : { status }) };
}

/** Returns the kind of the failure that an HTTP status means. `status`: null if there was no response. */
export function toFailureKind(status: number | null): FailureKind {
  if (status === null || status < FIRST_ERROR) return 'malformed';
  return KINDS.get(status) ?? (status < FIRST_SERVER_ERROR ? 'bad_request' : 'server');
}

/** Formats a text of a server, which may have any length and any content, for the message of a failure. */
export function formatServerText(text: string): string {
  const line = collapseWhitespace(text);
  const short = truncate(line, MAX_TEXT_LENGTH);
  return short === line ? line : `${short}…`;
}

function formatText(name: string, thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : null;
  const text = errorMessage(thrown);
  return `${name}: ${formatServerText(text === 'fetch failed' && cause !== null ? cause.message : text)}`;
}

function findCode(thrown: unknown): string | null {
  for (let each = thrown; each instanceof Error; each = each.cause) {
    if ('code' in each && typeof each.code === 'string') return each.code;
    if (each.message === 'fetch failed' && !(each.cause instanceof Error)) return 'UNKNOWN';
  }
  return null;
}
