import { type ControlReply, checkVersion, CONTROL_VERSION, MAX_REPLY_BYTES } from './protocol.ts';
import { ERROR_CODES, errorInfo, MusterError, type ErrorInfo } from '../base/errors.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { byteLength } from '../base/text.ts';
import { lineText } from './line-buffer.ts';

/**
 * Encodes a reply as one line. A reply that cannot be encoded or is too long becomes an error reply.
 */
export function encodeReply(reply: ControlReply): string {
  try {
    const line = replyLine(reply);
    if (byteLength(line) <= MAX_REPLY_BYTES) return line;
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `the answer is longer than a reply may be (${MAX_REPLY_BYTES} bytes): \`muster tasks show\` has it`,
    );
  } catch (thrown) {
    return replyLine({ ok: false, error: errorInfo(thrown) });
  }
}

function replyLine(reply: ControlReply): string {
  return `${JSON.stringify({ v: CONTROL_VERSION, type: 'reply', ...reply })}\n`;
}

/**
 * Decodes a line. Returns undefined for a line of another type, which a later release may send before the reply.
 * Throws `CONFLICT` for another version, and `INTERNAL_ERROR` for a line that is not part of the protocol.
 */
export function decodeReply(line: Buffer): ControlReply | undefined {
  const value = parseJsonLine(lineText(line) ?? '');
  if (!isJsonObject(value)) throw malformedReply('not a JSON object');
  checkVersion(value['v'], 'process');
  const { type, ok, text, data, error } = value;
  if (typeof type !== 'string') throw malformedReply('a line without a type');
  if (type !== 'reply') return undefined;
  if (ok === false && isErrorInfo(error)) {
    const { code, message, retryable } = error;
    return { ok, error: { code, message, retryable } };
  }
  if (ok === true && typeof text === 'string') {
    return { ok, text, ...(data === undefined ? {} : { data }) };
  }
  throw malformedReply('a reply that is neither a result nor an error');
}

function isErrorInfo(value: JsonValue | undefined): value is JsonValue & ErrorInfo {
  return (
    isJsonObject(value) &&
    ERROR_CODES.some((code) => code === value['code']) &&
    typeof value['message'] === 'string' &&
    typeof value['retryable'] === 'boolean'
  );
}

/** Returns the error of a client whose peer does not follow the protocol. */
export function malformedReply(what: string): MusterError {
  return new MusterError(
    'INTERNAL_ERROR',
    `the running Muster process answered what can't be read (${what}); whether it did what was asked is unknown: \`muster tasks show\` tells`,
  );
}
