import type { FailureKind } from '../../../protocol/model.ts';
import type { HttpStatusError } from './answer-errors.ts';
import type { Endpoint } from '../protocol-adapter.ts';
import { extractErrorText, describeErrorBody } from './error-body.ts';
import { isContextOverflow } from './context-overflow.ts';
import { findRetiredProvider } from '../../settings/retired-providers.ts';
import { addErrorType, findCloudHint } from './cloud-hints.ts';
import { findStatedKind } from './known-refusals.ts';
import type { ErrorRule } from '../../settings/provider-quirks.ts';
import { isWebPage } from './markup.ts';

/** The details of a failure, before the model and the status are added to its message. */
export interface FailureDetails {
  readonly kind: FailureKind;
  readonly text: string;
  readonly retryable: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
}

interface StatusDetails {
  readonly text: string;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
  /** The meaning of errors of this provider. Default: none is known. */
  readonly rules?: readonly ErrorRule[] | undefined;
  /** The length of the refused request in characters. Default: it is not known. */
  readonly requestLength?: number;
}

/** Reads the failure from a response with an unsuccessful status. `now`: the current time in milliseconds since the epoch. */
export function readRefusal(
  refusal: HttpStatusError,
  server: Endpoint,
  now: number,
): FailureDetails {
  const { status, headers, requestBody } = refusal;
  const body = server.cloud === undefined ? refusal.responseBody : addErrorType(refusal);
  const { host } = new URL(server.baseUrl);
  const retryAfterMs = readRetryAfter(headers, body, now);
  const text = describeErrorBody(body, host) || refusal.message;
  const rules = server.quirks?.errors;
  const stated = { text, body, retryAfterMs, rules, requestLength: requestBody.length };
  const details = classifyStatus(status, stated);
  const hint = findHint(refusal, details, server);
  return hint === '' ? details : { ...details, text: `${text} (${hint})` };
}

/** Some gateways refuse a request that is too long with an empty body. A request of this length is assumed to be too long. */
const MIN_LONG_REQUEST_LENGTH = 32_000;

/**
 * Classifies a failure by its HTTP status, which a response or an error inside an answer has, and by its text.
 * Gateways and many vendors use a status for several meanings, so a text that tells the meaning comes first.
 */
export function classifyStatus(status: number, details: StatusDetails): FailureDetails {
  const { text, body, retryAfterMs, requestLength = 0 } = details;
  const common = { text, status, retryAfterMs };
  const stated = extractErrorText(body);
  const rule = details.rules?.find((each) => each.text.test(stated));
  if (rule !== undefined) return { ...common, kind: rule.kind, retryable: rule.isTransient };
  if (status === 402) {
    // OpenRouter: a limit of the account that is lifted then.
    return { ...common, kind: 'rate_limit', retryable: retryAfterMs !== undefined };
  }
  const kind = findStatedKind(stated, status);
  if (kind !== null) return { ...common, kind, retryable: false };
  if (status === 401) return { ...common, kind: 'auth', retryable: false };
  if (status === 404 || status === 410) return { ...common, kind: 'not_found', retryable: false };
  if (status === 413) {
    // A web page is from a proxy, which limits bytes and not the tokens of the model.
    const isProxy = isWebPage(body);
    return { ...common, kind: isProxy ? 'bad_request' : 'context_overflow', retryable: false };
  }
  if (
    isContextOverflow(stated) ||
    (status === 400 && body.trim() === '' && requestLength > MIN_LONG_REQUEST_LENGTH)
  ) {
    return { ...common, kind: 'context_overflow', retryable: false };
  }
  if (status === 403) return { ...common, kind: 'auth', retryable: false };
  if (status === 408 || status === 409) return { ...common, kind: 'server', retryable: true };
  if (status === 429) return { ...common, kind: 'rate_limit', retryable: true };
  if (status >= 500) {
    const isOverloaded = status === 503 || status === 529 || /overloaded/i.test(text);
    return { ...common, kind: isOverloaded ? 'overloaded' : 'server', retryable: true };
  }
  return { ...common, kind: 'bad_request', retryable: false };
}

/** Returns a hint about the cause for the user; empty: the server's own message is enough. */
function findHint(
  refusal: HttpStatusError,
  { kind, retryable }: FailureDetails,
  server: Endpoint,
): string {
  const { url, status } = refusal;
  const { cloud } = server;
  const body = cloud === undefined ? refusal.responseBody : addErrorType(refusal);
  if (status === 413 && isWebPage(body)) {
    return 'a proxy before the server refuses requests of this size: raise its limit (nginx: client_max_body_size)';
  }
  const retired = findRetiredProvider(new URL(url).hostname);
  if (retired !== undefined) return retired.notice;
  const ofCloud = cloud === undefined ? '' : findCloudHint(cloud, extractErrorText(body));
  if (ofCloud !== '') return ofCloud;
  if (kind === 'not_found') return `sent to ${url}`;
  const isAboutAccount = kind === 'auth' || (kind === 'rate_limit' && !retryable);
  return isAboutAccount ? `sent to ${server.baseUrl} ${describeKey(server)}` : '';
}

function describeKey({ apiKey, keyFrom }: Endpoint): string {
  if (apiKey === null) return 'without a key';
  return keyFrom === undefined ? 'with a key' : `with the key in ${keyFrom}`;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Reads the wait in milliseconds that a server asks for. The sources in order of priority are the header
 * `retry-after-ms`; the header `retry-after` as seconds or as a date; Google's `retryDelay` in the body; and OpenAI's
 * "try again in …" in the message, which is the only source in an error inside a stream. The wait is at most a year.
 * Returns undefined if the server states no wait in a known form.
 */
export function readRetryAfter(headers: Headers, body: string, now: number): number | undefined {
  const ms = findStatedWait(headers, body, now);
  return ms === undefined ? undefined : Math.min(ms, MAX_RETRY_AFTER_MS);
}

/** The maximum wait: one year. A server may state any number, and the end of a huge wait would not be a valid date. */
const MAX_RETRY_AFTER_MS = 365 * 24 * 3_600_000;

function findStatedWait(headers: Headers, body: string, now: number): number | undefined {
  const ms = parseDecimal(headers['retry-after-ms']);
  if (ms !== undefined) return ms;
  return parseRetryAfter(headers['retry-after'], now) ?? findRetryDelay(body) ?? findTryAgain(body);
}

function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const after = header?.trim();
  const seconds = parseDecimal(after);
  if (seconds !== undefined) return seconds * 1000;
  // Only a text with letters is parsed as a date, because `Date.parse` would read a number as a year.
  const date = after === undefined || !/[a-z]/i.test(after) ? Number.NaN : Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0);
}

function findRetryDelay(body: string): number | undefined {
  const seconds = parseDecimal(/"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1]);
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

/** Reads the wait from a message such as "Please try again in 6m0s." or "in 350ms." */
function findTryAgain(body: string): number | undefined {
  const text = /try again in ((?:\d+(?:\.\d+)?(?:ms|h|m|s)){1,4})/i.exec(body)?.[1];
  if (text === undefined) return undefined;
  let total = 0;
  for (const [, count, unit = ''] of text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)) {
    total += Number(count) * (UNIT_MS[unit] ?? 0);
  }
  return Math.ceil(total);
}

function parseDecimal(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
