import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { errorMessage, systemErrorCode } from '../base/errors.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import { isStreamEnd } from './http-transports.ts';
import { describeLoginCommand, McpServerError, type McpFailureKind } from './server-error.ts';

/** The maximum length of a text of a server in an error. */
const MAX_LENGTH = 1000;
const UNAUTHORIZED = 401;
const NOT_FOUND = 404;
const SERVER_ERRORS = 500;
/** The errors of a connection after which no server has seen the request. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
/** The kinds of those errors of the SDK that are not about the content of a message. */
const KIND_OF: Readonly<Partial<Record<SdkErrorCode, McpFailureKind>>> = {
  [SdkErrorCode.NotConnected]: 'lost',
  [SdkErrorCode.ConnectionClosed]: 'lost',
  [SdkErrorCode.SendFailed]: 'lost',
  [SdkErrorCode.CapabilityNotSupported]: 'unsupported',
  [SdkErrorCode.MethodNotSupportedByProtocolVersion]: 'unsupported',
  [SdkErrorCode.ClientHttpAuthentication]: 'login',
};

/** The circumstances of a failed request. */
export interface FailedRequest {
  readonly server: string;
  readonly signal: AbortSignal;
  /** The reason for the end of the connection. Null if the connection is open, or if nothing is known. */
  readonly endReason: string | null;
}

/** Makes a text of a server fit for one line of an error. */
export function quoteOneLine(text: string): string {
  return truncate(sanitizeLine(text.slice(0, MAX_LENGTH * 2)), MAX_LENGTH);
}

/** Converts what a request of the SDK has thrown. */
export function toServerError(thrown: unknown, failed: FailedRequest): McpServerError {
  const { server, signal, endReason } = failed;
  if (thrown instanceof McpServerError) return thrown;
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (reason instanceof McpServerError) return reason;
    const details = { server, kind: 'cancelled', isOutcomeUnknown: true, cause: thrown } as const;
    return new McpServerError('the request was cancelled', details);
  }
  const create = (message: string, kind: McpFailureKind, isOutcomeUnknown = false) =>
    new McpServerError(message, { server, kind, isOutcomeUnknown, cause: thrown });
  const text = quoteOneLine(describeWithCauses(thrown));
  if (endReason !== null) return create(endReason, 'lost', true);
  if (thrown instanceof SdkHttpError) return create(...describeHttpError(thrown, failed, text));
  if (thrown instanceof UnauthorizedError) return create('it requires a login', 'login');
  if (thrown instanceof InsufficientScopeError) {
    const { requiredScope } = thrown;
    const scopes = requiredScope === undefined ? '' : ` (scopes: ${quoteOneLine(requiredScope)})`;
    const message = `it demands a login with more rights${scopes}: ${describeLoginCommand(server)}`;
    return create(message, 'login');
  }
  if (thrown instanceof ProtocolError) {
    if (isStreamEnd(thrown.data)) return create(thrown.message, 'lost', true);
    return create(`error ${thrown.code}: ${text}`, 'refused');
  }
  if (thrown instanceof SdkError) {
    const kind = KIND_OF[thrown.code] ?? 'invalid';
    return create(text, kind, kind === 'lost' || kind === 'invalid');
  }
  const code = findSystemErrorCode(thrown);
  if (code !== undefined || thrown instanceof TypeError) {
    return create(`the connection failed: ${text}`, 'lost', !NOT_SENT.has(code ?? ''));
  }
  return create(text, 'invalid', true);
}

type ErrorParts = readonly [message: string, kind: McpFailureKind, isOutcomeUnknown: boolean];

function describeHttpError(
  { status, code }: SdkHttpError,
  { server }: FailedRequest,
  text: string,
): ErrorParts {
  // The tokens of a login were refused, and those that replaced them as well.
  if (code === SdkErrorCode.ClientHttpAuthentication) {
    return [`it does not accept the login: ${describeLoginCommand(server)}`, 'login', false];
  }
  if (status === UNAUTHORIZED) return ['it requires a login (HTTP 401)', 'login', false];
  // The server no longer knows the session, so it has not carried out the request.
  if (status === NOT_FOUND) return [`HTTP 404: ${text}`, 'lost', false];
  return [`HTTP ${status}: ${text}`, 'refused', status >= SERVER_ERRORS];
}

function findSystemErrorCode(thrown: unknown): string | undefined {
  return (
    systemErrorCode(thrown) ?? (thrown instanceof Error ? systemErrorCode(thrown.cause) : undefined)
  );
}

/** The maximum number of errors that are described as causes of each other. */
const MAX_CAUSES = 4;

/** Returns the message of an error and those of its causes that say something new. */
function describeWithCauses(thrown: unknown): string {
  let text = errorMessage(thrown);
  let cause = thrown instanceof Error ? thrown.cause : undefined;
  for (let count = 0; count < MAX_CAUSES && cause instanceof Error; count += 1) {
    if (!text.includes(cause.message)) text += `: ${cause.message}`;
    ({ cause } = cause);
  }
  return text;
}
