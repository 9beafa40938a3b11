import { SdkError, SdkErrorCode, SdkHttpError, type FetchLike } from '@modelcontextprotocol/client';
import { errorMessage, systemErrorCode } from '../base/errors.ts';
import type { McpServerError } from './server-error.ts';
import { quoteOneLine } from './session-errors.ts';

/** The reasons by the codes of Node and undici, each with what the user can do. */
const REASONS: readonly (readonly [code: RegExp, reason: string, advice: string])[] = [
  [
    /^ECONNREFUSED$/,
    'no server accepts connections there',
    'start the server, or correct the host and the port',
  ],
  [
    /^(?:ENOTFOUND|EAI_AGAIN|EAI_NODATA)$/,
    'its host name was not found',
    'correct the name, or connect to the network or VPN that knows it',
  ],
  [
    /^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    'no connection was established in time',
    'check the URL, the firewall, and the proxy (HTTPS_PROXY, NO_PROXY)',
  ],
  [
    /^(?:ENETUNREACH|EHOSTUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
    'its network cannot be reached from this machine',
    'check the network, the VPN, and the proxy (HTTPS_PROXY, NO_PROXY)',
  ],
  [
    /^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/,
    'it ended the connection without an answer',
    'look in the log of the server; should the URL begin with https://?',
  ],
];

const CERTIFICATE =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|ERR_TLS_CERT_|ERR_SSL_.*CERT)/;
const TLS = /^(?:ERR_SSL_|ERR_TLS_|EPROTO)/;
/** OpenSSL says in these words that the server does not use TLS. */
const NO_TLS = /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long|http[ _]request/i;
/** The statuses with which a web server answers that has nothing at a path. */
const WRONG_PATH = new Set([404, 405, 410]);
const MAX_CAUSES = 5;

/**
 * Describes why a request to a server got no answer, and what to do.
 *
 * @param thrown the error that `fetch` has thrown
 */
export function explainNetworkFailure(thrown: unknown): string {
  const cause = findCodedError(thrown);
  const code = systemErrorCode(cause) ?? '';
  const message = quoteOneLine(errorMessage(cause));
  const known = REASONS.find(([pattern]) => pattern.test(code));
  if (known !== undefined) return `${known[1]} (${code}); ${known[2]}`;
  if (NO_TLS.test(`${code} ${message}`)) {
    return `it does not use TLS (${code}); should the URL begin with http://?`;
  }
  if (CERTIFICATE.test(code)) {
    return `its certificate is not trusted: ${message} (${code}); for certificates of your own, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE`;
  }
  if (TLS.test(code)) return `the TLS connection failed: ${message} (${code})`;
  const detail = code === '' || message.includes(code) ? message : `${message} (${code})`;
  return `the request failed: ${detail}; check the URL and the proxy (HTTPS_PROXY, NO_PROXY)`;
}

/** Finds the innermost error with a code. A host with several addresses fails with one error for each of them. */
function findCodedError(thrown: unknown): unknown {
  let found = thrown;
  let error = thrown;
  for (let depth = 0; error instanceof Error && depth < MAX_CAUSES; depth += 1) {
    if (error instanceof AggregateError && error.errors[0] instanceof Error) [error] = error.errors;
    if (systemErrorCode(error) !== undefined || systemErrorCode(found) === undefined) found = error;
    error = error instanceof Error ? error.cause : undefined;
  }
  return found;
}

/** Remembers why the last request of a connection got no answer, because the SDK passes on a part of that only. */
export class FetchWatch {
  /** The error that `fetch` has thrown; undefined if the last request was answered. */
  failure: unknown;
  readonly fetch: FetchLike;

  constructor(fetch: FetchLike) {
    this.fetch = async (url, init) => {
      try {
        const response = await fetch(url, init);
        this.failure = undefined;
        return response;
      } catch (thrown) {
        if (init?.signal?.aborted !== true) this.failure = thrown;
        throw thrown;
      }
    };
  }
}

/** A connection over HTTP that could not be opened. */
interface FailedConnection {
  readonly url: string;
  /** The failure of the first request, whose cause is the error of the SDK. */
  readonly error: McpServerError;
  /** The error that `fetch` has thrown; undefined if the server has answered. */
  readonly failure: unknown;
}

/** Says which URL could not be connected to, why, and what to do. */
export function describeFailedConnection(failed: FailedConnection): string {
  return `no connection to ${showUrl(failed.url)}: ${explain(failed)}`;
}

function explain({ error, failure }: FailedConnection): string {
  const { reason, kind, cause } = error;
  if (kind === 'start') return `${reason}; check the URL and the network, or raise start_seconds`;
  if (failure !== undefined) return explainNetworkFailure(failure);
  if (cause instanceof SdkHttpError) {
    return WRONG_PATH.has(cause.status) ? `${reason}; correct the path of the URL` : reason;
  }
  // The first question has a shorter limit of its own.
  if (cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout) {
    return 'it does not answer; check the URL and the network, or look in the log of the server';
  }
  if (cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed) {
    const detail = quoteOneLine(errorMessage(cause.cause));
    return `it answers, but not as an MCP server (${detail}); correct the path of the URL`;
  }
  return reason;
}

/** Returns a URL without its query, which may contain a key. */
function showUrl(text: string): string {
  const url = URL.parse(text);
  return url === null ? quoteOneLine(text) : `${url.origin}${quoteOneLine(url.pathname)}`;
}
