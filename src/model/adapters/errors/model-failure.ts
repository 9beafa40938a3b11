import { UsageError, errorMessage, systemErrorCode } from '../../../base/errors.ts';
import type { FailureKind, ModelFailure } from '../../../protocol/model.ts';
import { AnswerTooLargeError } from '../answers/answer-caps.ts';
import {
  IncompleteAnswerError,
  MalformedAnswerError,
  NotAStreamError,
  HttpRefusal,
  ReportedError,
  WrongServerError,
} from './answer-errors.ts';
import { errorText, findErrorMessage, toErrorLine } from './error-body.ts';
import { isContextOverflow } from './context-overflow.ts';
import type { Endpoint } from '../protocol-adapter.ts';
import { stripMarkup } from './markup.ts';
import { type FailureDetails, readRefusal, classifyStatus } from './read-refusal.ts';
import { readRetryAfter } from './retry-after.ts';
import { findErrorStatus } from './error-codes.ts';

/** The circumstances of a failure, for its message. */
export interface FailureContext {
  /** `provider/model`. */
  readonly model: string;
  readonly server: Endpoint;
  /** Some of the answer had come: what can't be told otherwise is the answer's fault. */
  readonly accepted: boolean;
  /** Milliseconds since the epoch, for Retry-After as a date. */
  readonly now: number;
}

/** Anything that a request can end with, as the value that the loop decides by. */
export function toModelFailure(thrown: unknown, scope: FailureContext): ModelFailure {
  const { kind, says, retryable, status, retryAfterMs } = read(thrown, scope);
  const code = status === undefined ? '' : `HTTP ${status}: `;
  return {
    kind,
    message: withoutKey(`${scope.model}: ${code}${toErrorLine(says)}`, scope.server.apiKey),
    retryable,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

export function cancelledFailure(scope: FailureContext): ModelFailure {
  return { kind: 'cancelled', message: `${scope.model}: stopped`, retryable: false };
}

function read(thrown: unknown, scope: FailureContext): FailureDetails {
  if (thrown instanceof ReportedError) return streamError(thrown.error, scope);
  const misread = misreading(thrown);
  if (misread !== null) return misread;
  if (thrown instanceof HttpRefusal) return readRefusal(thrown, scope.server, scope.now);
  return connection(thrown, scope);
}

function misreading(thrown: unknown): FailureDetails | null {
  if (thrown instanceof IncompleteAnswerError)
    return { kind: 'connect', says: thrown.message, retryable: true };
  if (thrown instanceof AnswerTooLargeError) {
    return { kind: 'too_large', says: thrown.message, retryable: false };
  }
  if (thrown instanceof NotAStreamError) {
    const says = `${thrown.message}: ${stripMarkup(thrown.body)}`;
    return { kind: 'bad_request', says, retryable: false };
  }
  if (thrown instanceof WrongServerError || thrown instanceof UsageError) {
    return { kind: 'bad_request', says: thrown.message, retryable: false };
  }
  if (thrown instanceof MalformedAnswerError) {
    return { kind: 'malformed', says: thrown.message, retryable: true };
  }
  return null;
}

/** An error event inside a stream. */
function streamError(error: object, scope: FailureContext): FailureDetails {
  const says = stripMarkup(findErrorMessage(error) ?? JSON.stringify(error));
  const body = JSON.stringify(error);
  const status = findErrorStatus(error);
  if (status === undefined) return unknownError(says, body);
  return classifyStatus(status, { says, body, retryAfterMs: readRetryAfter({}, body, scope.now) });
}

function unknownError(says: string, body: string): FailureDetails {
  const kind = kindByWords(errorText(body));
  return { kind, says, retryable: kind !== 'context_overflow' };
}

function kindByWords(words: string): FailureKind {
  if (isContextOverflow(words)) return 'context_overflow';
  if (/overloaded/i.test(words)) return 'overloaded';
  if (/rate.?limit/i.test(words)) return 'rate_limit';
  return 'server';
}

function rootCause(thrown: unknown): unknown {
  let cause = thrown;
  for (let depth = 0; depth < 8; depth += 1) {
    if (!(cause instanceof Error) || cause.cause === undefined) return cause;
    cause = cause.cause;
  }
  return cause;
}

/** Problems of the certificate chain: the same at every try. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/;
/** Errors of a server that does not speak TLS, which no waiting changes. */
const NO_TLS = /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long|:http[ _]request/i;

function connection(thrown: unknown, scope: FailureContext): FailureDetails {
  const cause = rootCause(thrown);
  const message = errorMessage(thrown);
  const misread = misreading(cause);
  if (misread !== null) return misread;
  const code = systemErrorCode(cause) ?? firstCode(cause);
  const said = errorMessage(cause) || message;
  if (/redirect/.test(said)) {
    const says = 'the server redirects: set its base URL to where it redirects to';
    return { kind: 'bad_request', says, retryable: false };
  }
  if (code === undefined && !/terminated|fetch failed|cannot connect/i.test(`${message} ${said}`)) {
    if (scope.accepted) return { kind: 'malformed', says: said, retryable: true };
    return { kind: 'bad_request', says: said, retryable: false };
  }
  const says = code === undefined || said.includes(code) ? said : `${said} (${code})`;
  if (code !== undefined && CERTIFICATE.test(code)) {
    const hint = 'own certificates: set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE';
    return { kind: 'connect', says: `no trusted connection: ${says}; ${hint}`, retryable: false };
  }
  if (NO_TLS.test(`${code} ${said}`)) {
    const hint = 'what answers there does not speak TLS: is its base URL one of http?';
    return { kind: 'connect', says: `no connection: ${says}; ${hint}`, retryable: false };
  }
  return { kind: 'connect', says: `no connection: ${says}`, retryable: true };
}

/** A name with several addresses fails with one error for each, and an empty message. */
function firstCode(cause: unknown): string | undefined {
  return cause instanceof AggregateError ? systemErrorCode(cause.errors[0]) : undefined;
}

/** Local servers take any word for a key: those are no secrets, and stand in every message. */
const SHORTEST_SECRET = 8;

function withoutKey(message: string, apiKey: string | null): string {
  if (apiKey === null || apiKey.length < SHORTEST_SECRET) return message;
  return message.replaceAll(apiKey, '[key]');
}
