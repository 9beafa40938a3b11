import { type ControlReply, checkVersion, CONTROL_VERSION, MAX_REPLY_BYTES } from './protocol.ts';
import { ERROR_CODES, errorInfo, MusterError, type ErrorInfo } from '../base/errors.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { byteLength } from '../base/text.ts';
import { decodeLine } from './line-buffer.ts';

/** Encodes a reply as one line. If the reply cannot be encoded or is too long, encodes an error reply instead. */
export function encodeReply(reply: ControlReply): string {
  try {
    const line = formatReply(reply);
    if (byteLength(line) <= MAX_REPLY_BYTES) return line;
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `the answer is longer than the limit of a reply (${MAX_REPLY_BYTES} bytes): see it with \`muster tasks show\``,
    );
  } catch (thrown) {
    return formatReply({ ok: false, error: errorInfo(thrown) });
  }
}

function formatReply(reply: ControlReply): string {
  return `${JSON.stringify({ v: CONTROL_VERSION, type: 'reply', ...reply })}\n`;
}

/**
 * Decodes a line. Returns undefined for a line of another type, which a later release may send before the reply.
 * Throws `CONFLICT` for another version, and `INTERNAL_ERROR` for a line that is not part of the protocol.
 */
export function decodeReply(line: Buffer): ControlReply | undefined {
  const value = parseJsonLine(decodeLine(line) ?? '');
  if (!isJsonObject(value)) throw createMalformedReplyError('not a JSON object');
  checkVersion(value['v'], 'process');
  const { type, ok, text, data, error } = value;
  if (typeof type !== 'string') throw createMalformedReplyError('a line without a type');
  if (type !== 'reply') return undefined;
  if (ok === false && isErrorInfo(error)) {
    const { code, message, retryable } = error;
    return { ok, error: { code, message, retryable } };
  }
  if (ok === true && typeof text === 'string') {
    return { ok, text, ...(data === undefined ? {} : { data }) };
  }
  throw createMalformedReplyError('a reply that is neither a result nor an error');
}

function isErrorInfo(value: JsonValue | undefined): value is JsonValue & ErrorInfo {
  return (
    isJsonObject(value) &&
    ERROR_CODES.some((code) => code === value['code']) &&
    typeof value['message'] === 'string' &&
    typeof value['retryable'] === 'boolean'
  );
}

/** Creates the error for a reply that does not follow the protocol. */
export function createMalformedReplyError(what: string): MusterError {
  return new MusterError(
    'INTERNAL_ERROR',
    `the running Muster process sent an answer that cannot be read (${what}), so it is unknown whether the request was carried out: check with \`muster tasks show\``,
  );
}
