import { crc32 } from 'node:zlib';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { ResponseBody } from '../../../sys/http/http-types.ts';
import { MalformedAnswerError } from '../errors/answer-errors.ts';

/** The length of a frame and of its headers, and the checksum of the two. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** The maximum length of a frame: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html allows 16 MiB. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024 + 128 * 1024;

/** One message of an event stream of AWS. */
export interface EventFrame {
  /** The headers with a text as their value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

/**
 * Splits the bytes of an event stream of AWS into frames, and checks their checksums. The format:
 * https://smithy.io/2.0/aws/amazon-eventstream.html
 */
export class EventFrameParser {
  private unread: Uint8Array = new Uint8Array(0);

  /** The number of bytes after the last complete frame. */
  get pendingBytes(): number {
    return this.unread.length;
  }

  /** Takes the next bytes, and yields the frames that are complete. Throws MalformedAnswerError for a damaged one. */
  *push(bytes: Uint8Array): Generator<EventFrame> {
    this.unread = Buffer.concat([this.unread, bytes]);
    while (this.unread.length >= PRELUDE_BYTES) {
      const view = toView(this.unread);
      const length = view.getUint32(0);
      const headerBytes = view.getUint32(4);
      if (view.getUint32(8) !== crc32(this.unread.subarray(0, 8))) throw damaged('its prelude');
      const minimum = PRELUDE_BYTES + headerBytes + CHECKSUM_BYTES;
      if (length < minimum || length > MAX_FRAME_BYTES) throw damaged('its length');
      if (this.unread.length < length) return;
      const frame = this.unread.subarray(0, length);
      const end = length - CHECKSUM_BYTES;
      if (view.getUint32(end) !== crc32(frame.subarray(0, end))) throw damaged('its checksum');
      const headersEnd = PRELUDE_BYTES + headerBytes;
      yield {
        headers: readHeaders(frame.subarray(PRELUDE_BYTES, headersEnd)),
        payload: frame.subarray(headersEnd, end),
      };
      this.unread = this.unread.subarray(length);
    }
  }
}

function damaged(part: string): MalformedAnswerError {
  return new MalformedAnswerError(`the server sent a damaged event: ${part} is wrong`);
}

function toView({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

const STRING_TYPE = 7;
/** The number of bytes of the values of each type of header with a fixed length. */
const VALUE_BYTES: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
]);
const BYTES_TYPE = 6;

/** Reads the headers of a frame, of which only texts are kept. */
function readHeaders(bytes: Uint8Array): Readonly<Record<string, string>> {
  const view = toView(bytes);
  const decoder = new TextDecoder();
  const headers: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + view.getUint8(at);
    if (nameEnd + 1 > bytes.length) throw damaged('a header');
    const name = decoder.decode(bytes.subarray(at + 1, nameEnd));
    const type = view.getUint8(nameEnd);
    const start = nameEnd + 1;
    const fixed = VALUE_BYTES.get(type);
    if (fixed !== undefined) {
      at = start + fixed;
      continue;
    }
    if ((type !== STRING_TYPE && type !== BYTES_TYPE) || start + 2 > bytes.length) {
      throw damaged('a header');
    }
    const end = start + 2 + view.getUint16(start);
    if (end > bytes.length) throw damaged('a header');
    if (type === STRING_TYPE) headers[name] = decoder.decode(bytes.subarray(start + 2, end));
    at = end;
  }
  return headers;
}

/**
 * Converts the body of an answer from an event stream of AWS to server-sent events, in which all protocols are read. A
 * body that is not such a stream, as gateways send it, stays as it is.
 */
export function decodeEventFrames(body: ResponseBody): ResponseBody {
  const parser = new EventFrameParser();
  let isFramed: boolean | null = null;
  return {
    async read() {
      for (;;) {
        const piece = await body.read();
        if (piece === null) return null;
        // The first byte of a frame is the highest one of its length.
        isFramed ??= piece.length === 0 ? null : piece[0] === 0 || piece[0] === 1;
        if (isFramed === false) return piece;
        const text = [...parser.push(piece)].map(toServerEvent).join('');
        if (text !== '') return new TextEncoder().encode(text);
      }
    },
    cancel: () => body.cancel(),
  };
}

/** Writes a frame as a server-sent event. */
function toServerEvent({ headers, payload }: EventFrame): string {
  const text = new TextDecoder().decode(payload);
  switch (headers[':message-type']) {
    case 'exception':
      return writeError(headers[':exception-type'] ?? 'exception', readMessage(text));
    case 'error':
      return writeError(headers[':error-code'] ?? 'error', headers[':error-message'] ?? '');
    default: {
      const name = headers[':event-type'] ?? '';
      const data = unwrapChunk(name, text);
      return data === null ? '' : `${name === 'chunk' ? '' : `event: ${name}\n`}data: ${data}\n\n`;
    }
  }
}

/** Returns the event in a frame. Models with a protocol of their own send it encoded, as `{"bytes": "…"}`. */
function unwrapChunk(name: string, text: string): string | null {
  // A line break in JSON has no meaning, but it ends a line of a server-sent event.
  if (name !== 'chunk') return text.replaceAll(/[\r\n]+/g, ' ');
  const parsed = parseJson(text);
  const bytes = isJsonObject(parsed) ? parsed['bytes'] : undefined;
  if (typeof bytes !== 'string') return null;
  return Buffer.from(bytes, 'base64')
    .toString('utf8')
    .replaceAll(/[\r\n]+/g, ' ');
}

function writeError(type: string, message: string): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`;
}

function readMessage(text: string): string {
  const parsed = parseJson(text);
  const message = isJsonObject(parsed) ? (parsed['message'] ?? parsed['Message']) : undefined;
  return typeof message === 'string' ? message : text;
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    // The caller uses the text itself.
    return null;
  }
}
