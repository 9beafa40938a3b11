import { MusterError, errorMessage, systemErrorCode, type ErrorCode } from '../base/errors.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { collapseWhitespace, truncate } from '../base/text.ts';
import { displayWebUrl } from './parse-url.ts';

/** Creates an error about a request. `problem`: says what happened, and what to do. */
export function webError(code: ErrorCode, url: URL, problem: string, cause?: unknown): MusterError {
  return new MusterError(code, `${displayWebUrl(url)}: ${problem}`, { cause });
}

const MAX_SERVER_TEXT = 200;

/** Makes a text of a server fit for a message: on one line, short, and without control characters. */
export function cleanServerText(text: string): string {
  const clean = collapseWhitespace(sanitizeForTerminal(text, 'plain'));
  const short = truncate(clean, MAX_SERVER_TEXT);
  return short === clean ? clean : `${short}…`;
}

interface Problem {
  readonly code: ErrorCode;
  readonly text: string;
}

/** Problems by the codes of Node and undici, or by the names of errors without a code. */
const PROBLEMS: readonly (readonly [RegExp, Problem])[] = [
  [
    /^ECONNREFUSED$/,
    {
      code: 'PROVIDER_ERROR',
      text: 'no server accepts connections there; check the host and the port',
    },
  ],
  [
    /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    { code: 'TIMEOUT', text: 'no connection was established in time' },
  ],
  [
    /^(?:ENETUNREACH|EHOSTUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
    {
      code: 'PROVIDER_ERROR',
      text: 'the network of the server cannot be reached from this machine',
    },
  ],
  [
    /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|ECONNABORTED|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    {
      code: 'PROVIDER_ERROR',
      text: 'the connection ended before the answer was complete',
    },
  ],
  [
    /^UND_ERR_HEADERS_OVERFLOW$/,
    { code: 'LIMIT_EXCEEDED', text: 'the headers of the answer are larger than the limit' },
  ],
  [
    /^ERR_SSL_(?:WRONG_VERSION_NUMBER|HTTP_REQUEST)$/,
    {
      code: 'PROVIDER_ERROR',
      text: 'the server does not answer with TLS; the address may begin with http://',
    },
  ],
  [
    /^(?:HPE_|HTTPParserError$)/,
    { code: 'PROVIDER_ERROR', text: 'the answer of the server is not valid HTTP' },
  ],
  [
    /^(?:Z_|ZSTD_|ERR__ERROR_|ERR_BROTLI_|ERR_ZLIB_)/,
    { code: 'PROVIDER_ERROR', text: 'the compressed body of the answer is damaged' },
  ],
];

/** OpenSSL's errors name the place in its source: `…:SSL routines:tls_process_x:reason:../deps/openssl/…`. */
const OPENSSL_REASON = /SSL routines:[^:]*:([^:]+):/;

const CERTIFICATE_CODES =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|EPROTO|HOSTNAME_MISMATCH)/;

/** Describes the failure of a connection or of a transfer. */
export function describeNetworkFailure(thrown: unknown): Problem {
  const error = findCodedError(thrown);
  const code = findCode(error);
  const message = errorMessage(error);
  const detail = cleanServerText(OPENSSL_REASON.exec(message)?.[1] ?? message);
  const known = PROBLEMS.find(([pattern]) => pattern.test(code));
  if (known !== undefined) return { ...known[1], text: `${known[1].text} (${code})` };
  if (CERTIFICATE_CODES.test(code)) {
    const advice =
      'if it is a server with certificates of your own, set SSL_CERT_FILE or NODE_EXTRA_CA_CERTS';
    return {
      code: 'PROVIDER_ERROR',
      text: `no trusted connection: ${detail} (${code}); ${advice}`,
    };
  }
  return { code: 'PROVIDER_ERROR', text: `the request failed: ${detail}` };
}

/** Finds the error that says most: the first one with a code of the system among an error, its parts and its causes. */
function findCodedError(thrown: unknown): unknown {
  for (let error = thrown, depth = 0; error instanceof Error && depth < MAX_CAUSES; depth += 1) {
    const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
    if (first !== undefined) return first;
    const code = findCode(error);
    if (error.cause === undefined || PROBLEMS.some(([pattern]) => pattern.test(code))) return error;
    error = error.cause;
  }
  return thrown;
}

const MAX_CAUSES = 5;

function findCode(error: unknown): string {
  return systemErrorCode(error) ?? (error instanceof Error ? error.name : '');
}
