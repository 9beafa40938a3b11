import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { MusterError, type ErrorCode } from '../../base/errors.ts';
import type { ErrorReply } from './wire.ts';

const compress = promisify(gzip);
/** The level of the compression. The list of 10,000 tasks takes three times as long at the default level. */
const GZIP = { level: 1 };
/** The minimum number of bytes of a body that is compressed. */
const MIN_GZIP_BYTES = 2_048;

/** The headers of every response. The policy lets the page load nothing from elsewhere, and no other page show it in a frame. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // What is behind the token must be in no cache after the end of the server.
  'cache-control': 'no-store',
};

/** Creates a response with JSON, compressed if the client accepts that. */
export async function jsonResponse(
  request: Request,
  value: unknown,
  status = 200,
): Promise<Response> {
  const bytes = Buffer.from(JSON.stringify(value));
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const accepts = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
  if (!accepts || bytes.length < MIN_GZIP_BYTES) return new Response(bytes, { status, headers });
  return new Response(new Uint8Array(await compress(bytes, GZIP)), {
    status,
    headers: { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
  });
}

/** Creates the response for an error that a request has caused. */
export function errorResponse(error: MusterError): Response {
  return refusal(STATUS_OF_CODE[error.code], error.message, error.code);
}

/** Creates a response that refuses a request. */
export function refusal(
  status: number,
  message: string,
  code: string = CODE_OF_STATUS[status] ?? 'INVALID_PARAM',
): Response {
  const reply: ErrorReply = { error: { code, message } };
  return Response.json(reply, { status });
}

const STATUS_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  INVALID_PARAM: 400,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  LIMIT_EXCEEDED: 413,
  CANCELLED: 409,
  TIMEOUT: 504,
  PROVIDER_ERROR: 502,
  INTERNAL_ERROR: 500,
};

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  421: 'PERMISSION_DENIED',
  429: 'LIMIT_EXCEEDED',
  500: 'INTERNAL_ERROR',
};
