import { ProxiedRequestError } from '../../../sys/http/http-types.ts';
import { KeyUnavailableError } from '../../../protocol/api-key.ts';
import { listNames } from '../../../base/text.ts';
import { UsageError, errorMessage, systemErrorCode } from '../../../base/errors.ts';
import type { FailureKind, ModelFailure } from '../../../protocol/model.ts';
import {
  IncompleteAnswerError,
  MalformedAnswerError,
  NotAStreamError,
  HttpStatusError,
  ReportedError,
  WrongServerError,
  AnswerTooLargeError,
} from './answer-errors.ts';
import { extractErrorText, findErrorMessage, toErrorLine } from './error-body.ts';
import { isContextOverflow } from './context-overflow.ts';
import { hideKeys } from '../../providers/provider-key.ts';
import { findStatedKind } from './known-refusals.ts';
import type { ErrorRule } from '../../settings/provider-quirks.ts';
import type { Endpoint } from '../protocol-adapter.ts';
import { stripMarkup } from './markup.ts';
import {
  type FailureDetails,
  readRefusal,
  classifyStatus,
  readRetryAfter,
} from './read-refusal.ts';
import { isJsonObject } from '../../../base/json.ts';

/** The request that failed, as far as its failure depends on it. */
export interface FailureContext {
  /** The model as `provider/id`. */
  readonly model: string;
  readonly server: Endpoint;
  /** True if the answer had begun. An error without a known cause is then a malformed answer. */
  readonly isAnswering: boolean;
  /** The current time in milliseconds since the epoch, for dates in Retry-After. */
  readonly now: number;
}

/** Converts any value that a request can throw to a failure. */
export function toModelFailure(thrown: unknown, context: FailureContext): ModelFailure {
  const { kind, text, retryable, status, retryAfterMs } = readThrown(thrown, context);
  const code = status === undefined ? '' : `HTTP ${status}: `;
  return {
    kind,
    message: hideKeys(`${context.model}: ${code}${toErrorLine(text)}`, context.server),
    retryable,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Creates the failure of a request that was cancelled. */
export function createCancelledFailure(context: FailureContext): ModelFailure {
  return { kind: 'cancelled', message: `${context.model}: stopped`, retryable: false };
}

/** Returns the details of a failure from the thrown value. */
function readThrown(thrown: unknown, context: FailureContext): FailureDetails {
  if (thrown instanceof ReportedError) return readReportedError(thrown.error, context);
  const answerError = readAnswerError(thrown);
  if (answerError !== null) return answerError;
  if (thrown instanceof HttpStatusError) return readRefusal(thrown, context.server, context.now);
  return readConnectionError(thrown, context);
}

function readAnswerError(thrown: unknown): FailureDetails | null {
  if (thrown instanceof IncompleteAnswerError)
    return { kind: 'connect', text: thrown.message, retryable: true };
  if (thrown instanceof KeyUnavailableError) {
    return { kind: 'auth', text: thrown.message, retryable: false };
  }
  if (thrown instanceof AnswerTooLargeError) {
    return { kind: 'too_large', text: thrown.message, retryable: false };
  }
  if (thrown instanceof NotAStreamError) {
    const text = `${thrown.message}: ${stripMarkup(thrown.body)}`;
    return { kind: 'bad_request', text, retryable: false };
  }
  if (thrown instanceof WrongServerError || thrown instanceof UsageError) {
    return { kind: 'bad_request', text: thrown.message, retryable: false };
  }
  if (thrown instanceof MalformedAnswerError) {
    return { kind: 'malformed', text: thrown.message, retryable: true };
  }
  return null;
}

/** Reads the failure from an error event inside a stream. */
function readReportedError(error: object, context: FailureContext): FailureDetails {
  const text = stripMarkup(findErrorMessage(error) ?? JSON.stringify(error));
  const body = JSON.stringify(error);
  const status = findErrorStatus(error);
  const rules = context.server.quirks?.errors;
  if (status === undefined) return readUnknownError(text, extractErrorText(body), rules);
  return classifyStatus(status, {
    text,
    body,
    rules,
    retryAfterMs: readRetryAfter({}, body, context.now),
  });
}

/** Reads an error without a status. `stated`: the texts that say what is wrong. */
function readUnknownError(
  text: string,
  stated: string,
  rules: readonly ErrorRule[] = [],
): FailureDetails {
  const rule = rules.find((each) => each.text.test(stated));
  if (rule !== undefined) return { kind: rule.kind, text, retryable: rule.isTransient };
  const kind = findStatedKind(stated, undefined);
  if (kind !== null) return { kind, text, retryable: false };
  const guessed = classifyText(stated);
  return { kind: guessed, text, retryable: guessed !== 'context_overflow' };
}

function classifyText(text: string): FailureKind {
  if (isContextOverflow(text)) return 'context_overflow';
  if (/overloaded/i.test(text)) return 'overloaded';
  if (/rate.?limit/i.test(text)) return 'rate_limit';
  return 'server';
}

/** The maximum number of causes below each other that are looked at. */
const MAX_CAUSES = 8;

/** Returns the innermost cause of an error. */
function findRootCause(thrown: unknown): unknown {
  let cause = thrown;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (!(cause instanceof Error) || cause.cause === undefined) return cause;
    cause = cause.cause;
  }
  return cause;
}

/** Returns the first result of `read` for an error or one of its causes; null if there is none. */
function findInCauses<Result>(
  thrown: unknown,
  read: (error: Error) => Result | null,
): Result | null {
  let cause = thrown;
  for (let depth = 0; depth <= MAX_CAUSES && cause instanceof Error; depth += 1) {
    const found = read(cause);
    if (found !== null) return found;
    cause = cause.cause;
  }
  return null;
}

/** Matches the codes of certificate errors, for which the request is not sent again. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/;
/** Errors of a certificate whose dates do not fit the clock, which is often the one that is wrong. */
const CERTIFICATE_DATE = /^CERT_(?:NOT_YET_VALID|HAS_EXPIRED)$/;
/** Errors of a server that does not use TLS, which a new attempt does not change. */
const NO_TLS = /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long|:http[ _]request/i;

/** The cause of a failed connection. */
export interface ConnectionError {
  readonly kind: 'redirect' | 'certificate' | 'no_tls' | 'other';
  readonly text: string;
  /** The next step of the user; null: it depends on the circumstances. */
  readonly hint: string | null;
  /** The code of the system error, such as `ENOTFOUND`; undefined: it has none. */
  readonly code: string | undefined;
}

/** Finds the cause of an exception of `fetch`. `now`: milliseconds since the epoch. */
export function explainConnectionError(thrown: unknown, now: number): ConnectionError {
  const cause = findRootCause(thrown);
  const code = systemErrorCode(cause) ?? findFirstCode(cause);
  const message = errorMessage(cause) || errorMessage(thrown);
  const redirect = /redirect(?: to (\S+))?/.exec(message);
  if (redirect !== null) {
    const text = `the server redirects to ${redirect[1] ?? 'another address'}`;
    return { kind: 'redirect', text, hint: 'set its base URL to that address', code };
  }
  const text = code === undefined || message.includes(code) ? message : `${message} (${code})`;
  if (code !== undefined && CERTIFICATE.test(code)) {
    const hint = CERTIFICATE_DATE.test(code)
      ? `the clock of this machine says ${new Date(now).toISOString().slice(0, 10)}`
      : 'for your own certificates, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE';
    return { kind: 'certificate', text: `no trusted connection: ${text}`, hint, code };
  }
  if (NO_TLS.test(`${code} ${message}`)) {
    const hint = 'the server does not use TLS: should its base URL begin with http://?';
    return { kind: 'no_tls', text: `no connection: ${text}`, hint, code };
  }
  const proxy = findInCauses(thrown, (error) =>
    error instanceof ProxiedRequestError ? error.proxy : null,
  );
  if (proxy !== null) {
    const hint = 'HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names this proxy; NO_PROXY exempts hosts';
    return { kind: 'other', text: `no connection through the proxy ${proxy}: ${text}`, hint, code };
  }
  return { kind: 'other', text: `no connection: ${text}`, hint: null, code };
}

function readConnectionError(thrown: unknown, context: FailureContext): FailureDetails {
  const cause = findRootCause(thrown);
  const answerError = readAnswerError(cause);
  if (answerError !== null) return answerError;
  const { kind, text, hint, code } = explainConnectionError(thrown, context.now);
  if (kind === 'redirect') {
    return { kind: 'bad_request', text: `${text}: ${hint}`, retryable: false };
  }
  const causeMessage = errorMessage(cause) || errorMessage(thrown);
  if (
    code === undefined &&
    !/terminated|fetch failed|cannot connect/i.test(`${errorMessage(thrown)} ${causeMessage}`)
  ) {
    if (context.isAnswering) return { kind: 'malformed', text: causeMessage, retryable: true };
    return { kind: 'bad_request', text: causeMessage, retryable: false };
  }
  // Certificates stay wrong, but a server or proxy that can't be reached may only be starting.
  const described = hint === null ? text : `${text}; ${hint}`;
  return { kind: 'connect', text: described, retryable: kind === 'other' };
}

/** Returns the code of the first of several errors: a host with several addresses fails with one error for each address. */
function findFirstCode(cause: unknown): string | undefined {
  return cause instanceof AggregateError ? systemErrorCode(cause.errors[0]) : undefined;
}

/**
 * The HTTP status for each error code of the vendors. An error event inside a stream has no HTTP status, and only some
 * events contain one as a number. Anthropic: https://docs.claude.com/en/api/errors; OpenAI, and the servers compatible with it:
 * https://platform.openai.com/docs/guides/error-codes; Google: https://google.aip.dev/193; Bedrock:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */
const ERROR_CODES: readonly (readonly [status: number, codes: string])[] = [
  [400, 'invalid_request_error invalid_prompt INVALID_ARGUMENT FAILED_PRECONDITION'],
  [400, 'validationException ValidationException'],
  [401, 'authentication_error invalid_api_key UNAUTHENTICATED'],
  [402, 'billing_error insufficient_quota'],
  [403, 'permission_error PERMISSION_DENIED'],
  [404, 'not_found_error model_not_found NOT_FOUND'],
  [409, 'ABORTED'],
  [413, 'request_too_large context_length_exceeded'],
  [429, 'rate_limit_error rate_limit_exceeded RESOURCE_EXHAUSTED throttlingException'],
  [500, 'api_error server_error INTERNAL internalServerException modelStreamErrorException'],
  [503, 'server_is_overloaded slow_down UNAVAILABLE serviceUnavailableException'],
  [504, 'timeout_error DEADLINE_EXCEEDED'],
  [529, 'overloaded_error'],
];
const STATUSES: ReadonlyMap<string, number> = new Map(
  ERROR_CODES.flatMap(([status, codes]) => listNames(codes).map((code) => [code, status] as const)),
);

/** The fields of an error event with a status or a code, in most specific first. */
const CODE_FIELDS = ['statusCode', 'status_code', 'http_code', 'status', 'code', 'type'];

/** Finds the HTTP status of an error event by a number or an error code in its fields; undefined: the event has neither. */
function findErrorStatus(event: object): number | undefined {
  const inner: unknown = Reflect.get(event, 'data');
  for (const source of isJsonObject(inner) ? [inner, event] : [event]) {
    for (const field of CODE_FIELDS) {
      const status = toStatus(Reflect.get(source, field));
      if (status !== undefined) return status;
    }
  }
  return undefined;
}

function toStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' ? (STATUSES.get(value) ?? Number(value)) : value;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}
