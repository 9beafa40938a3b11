import type { FailureKind } from '../../../protocol/model.ts';
import type { HttpRefusal } from './answer-errors.ts';
import type { Endpoint } from '../protocol-adapter.ts';
import { errorText, describeErrorBody } from './error-body.ts';
import { isContextOverflow } from './context-overflow.ts';
import { readRetryAfter } from './retry-after.ts';
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
  /** The length of the refused request in characters. Default: it is not known. */
  readonly sentLength?: number;
}

/** Reads the failure from a response with an unsuccessful status. `now`: milliseconds since the epoch. */
export function readRefusal(refusal: HttpRefusal, server: Endpoint, now: number): FailureDetails {
  const { status, headers, body, sent } = refusal;
  const { host } = new URL(server.baseUrl);
  const retryAfterMs = readRetryAfter(headers, body, now);
  const text = describeErrorBody(body, host) || refusal.message;
  const details = classifyStatus(status, { text, body, retryAfterMs, sentLength: sent.length });
  const hint = findHint(refusal, details, server);
  return hint === '' ? details : { ...details, text: `${text} (${hint})` };
}

/** Some gateways refuse a request that is too long with an empty body. From this length on, that is assumed. */
const LONG_REQUEST = 32_000;

/** Classifies a failure by its HTTP status, which a response or an error inside an answer has. */
export function classifyStatus(status: number, details: StatusDetails): FailureDetails {
  const { text, body, retryAfterMs, sentLength = 0 } = details;
  const common = { text, status, retryAfterMs };
  switch (status) {
    case 401:
    case 402:
      return { ...common, kind: 'auth', retryable: false };
    case 404:
      return { ...common, kind: 'not_found', retryable: false };
    case 413:
      // A web page is from a proxy, which limits bytes and not the tokens of the model.
      return {
        ...common,
        kind: isWebPage(body) ? 'bad_request' : 'context_overflow',
        retryable: false,
      };
  }
  // This comes before the other statuses, since gateways use any of them for a refusal of the server behind them.
  if (
    isContextOverflow(errorText(body)) ||
    (status === 400 && body.trim() === '' && sentLength > LONG_REQUEST)
  ) {
    return { ...common, kind: 'context_overflow', retryable: false };
  }
  switch (status) {
    case 403:
      return { ...common, kind: 'auth', retryable: false };
    case 408:
    case 409:
      return { ...common, kind: 'server', retryable: true };
    case 503:
    case 529:
      return { ...common, kind: 'overloaded', retryable: true };
  }
  if (status === 429) {
    // A spent quota is not restored by waiting.
    return { ...common, kind: 'rate_limit', retryable: !/insufficient_quota/.test(body) };
  }
  if (status >= 500) {
    const kind = /overloaded/i.test(text) ? 'overloaded' : 'server';
    return { ...common, kind, retryable: true };
  }
  return { ...common, kind: 'bad_request', retryable: false };
}

/** Returns a hint about the cause for the user; empty: the server's own message is enough. */
function findHint(
  { url, body, status }: HttpRefusal,
  { kind }: FailureDetails,
  server: Endpoint,
): string {
  if (status === 413 && isWebPage(body)) {
    return 'a proxy before the server takes no request of this size: raise its limit (nginx: client_max_body_size)';
  }
  if (kind === 'not_found') return `sent to ${url}`;
  return kind === 'auth' ? `sent to ${server.baseUrl} ${describeKey(server)}` : '';
}

function describeKey({ apiKey, keyFrom }: Endpoint): string {
  if (apiKey === null) return 'without a key';
  return keyFrom === undefined ? 'with a key' : `with the key in ${keyFrom}`;
}
