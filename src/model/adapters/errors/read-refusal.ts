import type { FailureKind } from '../../../protocol/model.ts';
import type { HttpRefusal } from './answer-errors.ts';
import type { Endpoint } from '../protocol-adapter.ts';
import { errorText, describeErrorBody } from './error-body.ts';
import { isContextOverflow } from './context-overflow.ts';
import { readRetryAfter } from './retry-after.ts';
import { isWebPage } from './markup.ts';

/** A failure as it is told, before it is put into words. */
export interface FailureDetails {
  readonly kind: FailureKind;
  readonly says: string;
  readonly retryable: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
}

interface StatusDetails {
  readonly says: string;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
  /** Characters of the refused request. Absent: not known. */
  readonly sent?: number;
}

export function readRefusal(refusal: HttpRefusal, server: Endpoint, now: number): FailureDetails {
  const { status, headers, body, sent } = refusal;
  const { host } = new URL(server.baseUrl);
  const retryAfterMs = readRetryAfter(headers, body, now);
  const says = describeErrorBody(body, host) || refusal.message;
  const reading = classifyStatus(status, { says, body, retryAfterMs, sent: sent.length });
  const hint = hintFor(refusal, reading, server);
  return hint === '' ? reading : { ...reading, says: `${says} (${hint})` };
}

/** Some gateways refuse a request that is too long without a word. */
const LONG_REQUEST = 32_000;

/** Reads what a status means, of a response or of an error inside an answer. */
export function classifyStatus(status: number, details: StatusDetails): FailureDetails {
  const { says, body, retryAfterMs, sent = 0 } = details;
  const reading = { says, status, retryAfterMs };
  switch (status) {
    case 401:
    case 402:
      return { ...reading, kind: 'auth', retryable: false };
    case 404:
      return { ...reading, kind: 'not_found', retryable: false };
    case 413:
      // A proxy counts bytes, and not what the model takes.
      return {
        ...reading,
        kind: isWebPage(body) ? 'bad_request' : 'context_overflow',
        retryable: false,
      };
  }
  // Before the other statuses: gateways put any of them on the refusal of the server behind them.
  if (
    isContextOverflow(errorText(body)) ||
    (status === 400 && body.trim() === '' && sent > LONG_REQUEST)
  ) {
    return { ...reading, kind: 'context_overflow', retryable: false };
  }
  switch (status) {
    case 403:
      return { ...reading, kind: 'auth', retryable: false };
    case 408:
    case 409:
      return { ...reading, kind: 'server', retryable: true };
    case 503:
    case 529:
      return { ...reading, kind: 'overloaded', retryable: true };
  }
  if (status === 429) {
    // A spent quota does not come back by waiting.
    return { ...reading, kind: 'rate_limit', retryable: !/insufficient_quota/.test(body) };
  }
  if (status >= 500) {
    const kind = /overloaded/i.test(says) ? 'overloaded' : 'server';
    return { ...reading, kind, retryable: true };
  }
  return { ...reading, kind: 'bad_request', retryable: false };
}

/** Says where a person finds what is wrong; empty: the server's own words are enough. */
function hintFor(
  { url, body, status }: HttpRefusal,
  { kind }: FailureDetails,
  server: Endpoint,
): string {
  if (status === 413 && isWebPage(body)) {
    return 'a proxy before the server takes no request of this size: raise its limit (nginx: client_max_body_size)';
  }
  if (kind === 'not_found') return `asked ${url}`;
  return kind === 'auth' ? `asked ${server.baseUrl} ${withWhichKey(server)}` : '';
}

function withWhichKey({ apiKey, keyFrom }: Endpoint): string {
  if (apiKey === null) return 'without a key';
  return keyFrom === undefined ? 'with a key' : `with the key in ${keyFrom}`;
}
