import { Transform, type TransformCallback } from 'node:stream';

/** The maximum size of one message of a server. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** The maximum size of the header of a message. */
const MAX_HEADER_BYTES = 4_096;
/** The maximum number of bytes that a server may send within one interval. */
const MAX_INTERVAL_BYTES = 64 * 1024 * 1024;
/** The maximum number of messages within one interval. Each of them takes time here, however small it is. */
const MAX_INTERVAL_MESSAGES = 20_000;
const INTERVAL_MS = 10_000;

const HEADER_END = Buffer.from('\r\n\r\n');

/**
 * Passes on the messages of a language server, and fails when the server exceeds a limit. The reader of messages behind it
 * keeps whatever a header announces in memory, so the limits are checked here.
 */
export class BoundedStream extends Transform {
  private header = Buffer.alloc(0);
  /** The bytes of the present message that have not arrived yet. */
  private remaining = 0;
  private intervalStart = Date.now();
  private intervalBytes = 0;
  private intervalMessages = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const problem = this.countBytes(chunk.length) ?? this.readFrames(chunk);
    done(problem === null ? null : new Error(problem));
  }

  private countBytes(bytes: number): string | null {
    const now = Date.now();
    if (now - this.intervalStart > INTERVAL_MS) {
      this.intervalStart = now;
      this.intervalBytes = 0;
      this.intervalMessages = 0;
    }
    this.intervalBytes += bytes;
    if (this.intervalBytes <= MAX_INTERVAL_BYTES) return null;
    return describeExcess(toMegabytes(MAX_INTERVAL_BYTES));
  }

  /** Passes on the headers and bodies of messages. Returns the exceeded limit, or null. */
  private readFrames(chunk: Buffer): string | null {
    let at = 0;
    while (at < chunk.length) {
      if (this.remaining > 0) {
        const part = chunk.subarray(at, at + this.remaining);
        this.push(part);
        this.remaining -= part.length;
        at += part.length;
        continue;
      }
      const known = this.header.length;
      this.header = Buffer.concat([this.header, chunk.subarray(at, at + MAX_HEADER_BYTES)]);
      const end = this.header.indexOf(HEADER_END);
      if (end < 0) {
        if (this.header.length >= MAX_HEADER_BYTES) return 'it sent something that is no message';
        return null;
      }
      const header = this.header.toString('latin1', 0, end);
      const [, length] = /^content-length: *(\d{1,15}) *$/im.exec(header) ?? [];
      if (length === undefined) return 'it sent a message without a length';
      this.intervalMessages += 1;
      if (this.intervalMessages > MAX_INTERVAL_MESSAGES)
        return describeExcess(`${MAX_INTERVAL_MESSAGES} messages`);
      this.remaining = Number(length);
      if (this.remaining > MAX_MESSAGE_BYTES)
        return `it sent a message of more than ${toMegabytes(MAX_MESSAGE_BYTES)}`;
      // Only this length is passed on: another one in the header would mean another message to the reader.
      this.push(`Content-Length: ${length}\r\n\r\n`);
      at += end + HEADER_END.length - known;
      this.header = Buffer.alloc(0);
    }
    return null;
  }
}

function describeExcess(what: string): string {
  return `it sent more than ${what} within ${INTERVAL_MS / 1000} s`;
}

function toMegabytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`;
}
