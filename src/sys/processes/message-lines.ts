import { isJsonObject, type JsonObject } from '../../base/json.ts';

/** The limits of what a server may send. */
export interface MessageLimits {
  /** The maximum size of one message in bytes. */
  readonly maxMessageBytes: number;
  /** The maximum number of lines, and of their bytes, that are no messages and stand between two messages. */
  readonly maxGarbageLines: number;
  readonly maxGarbageBytes: number;
}

export const DEFAULT_MESSAGE_LIMITS: MessageLimits = {
  maxMessageBytes: 16 * 1024 * 1024,
  maxGarbageLines: 1000,
  maxGarbageBytes: 1024 * 1024,
};

/** The maximum length of a line that is quoted in a report. */
const MAX_QUOTED_LENGTH = 200;
const EMPTY = Buffer.alloc(0);

/** The content of a part of a server's stdout. */
export type ReceivedLine =
  | { readonly type: 'message'; readonly message: JsonObject }
  /** A line that is no message, cut to a length that fits a report. */
  | { readonly type: 'garbage'; readonly text: string }
  /** A limit was exceeded. Nothing that follows is read. */
  | { readonly type: 'overflow'; readonly reason: string };

/**
 * Splits the stdout of a server into messages of JSON-RPC, one on each line. Memory is bounded by the limits, whatever
 * the server sends.
 */
export class MessageLines {
  private readonly limits: MessageLimits;
  /** The beginning of a line whose end has not arrived: the first `used` bytes of the buffer. */
  private buffer: Buffer = EMPTY;
  private used = 0;
  private garbageLines = 0;
  private garbageBytes = 0;
  private isOver = false;

  constructor(limits: MessageLimits) {
    this.limits = limits;
  }

  /** Yields what a chunk completes. */
  *push(chunk: Buffer): Generator<ReceivedLine> {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      if (this.isOver) return;
      const line = this.takeLine(chunk.subarray(start, end));
      start = end + 1;
      yield* this.readLine(line);
    }
    if (this.isOver) return;
    const rest = chunk.subarray(start);
    if (this.used + rest.length > this.limits.maxMessageBytes) yield this.overflowMessage();
    else this.append(rest);
  }

  /** Returns the line that `rest` completes. */
  private takeLine(rest: Buffer): Buffer {
    if (this.used === 0) return rest;
    const line = Buffer.concat([this.buffer.subarray(0, this.used), rest]);
    this.buffer = EMPTY;
    this.used = 0;
    return line;
  }

  /** Copies bytes into the buffer, which doubles when it is full: a server may send each byte alone. */
  private append(rest: Buffer): void {
    const needed = this.used + rest.length;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
      this.buffer.copy(larger, 0, 0, this.used);
      this.buffer = larger;
    }
    rest.copy(this.buffer, this.used);
    this.used = needed;
  }

  private *readLine(line: Buffer): Generator<ReceivedLine> {
    if (line.length > this.limits.maxMessageBytes) {
      yield this.overflowMessage();
      return;
    }
    const text = line.toString('utf8').trim();
    if (text === '') return;
    const messages = parseMessages(text);
    if (messages === null) {
      yield* this.readGarbage(text, line.length);
      return;
    }
    this.garbageLines = 0;
    this.garbageBytes = 0;
    for (const message of messages) yield { type: 'message', message };
  }

  private *readGarbage(text: string, bytes: number): Generator<ReceivedLine> {
    this.garbageLines += 1;
    this.garbageBytes += bytes;
    const { maxGarbageBytes, maxGarbageLines } = this.limits;
    if (this.garbageLines > maxGarbageLines || this.garbageBytes > maxGarbageBytes) {
      yield this.overflow(
        'it prints text to stdout, where only messages of the protocol are allowed',
      );
      return;
    }
    yield { type: 'garbage', text: text.slice(0, MAX_QUOTED_LENGTH) };
  }

  private overflowMessage(): ReceivedLine {
    const megabytes = this.limits.maxMessageBytes / 1024 / 1024;
    return this.overflow(
      `it sent a message of more than ${megabytes.toFixed(1).replace('.0', '')} MB`,
    );
  }

  private overflow(reason: string): ReceivedLine {
    this.isOver = true;
    this.buffer = EMPTY;
    return { type: 'overflow', reason };
  }
}

/** Parses a message, or the list of messages of a batch. Returns null for any other text. */
function parseMessages(text: string): readonly JsonObject[] | null {
  if (!text.startsWith('{') && !text.startsWith('[')) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The line is no message. The caller counts and reports it.
    return null;
  }
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every(isMessage) ? list : null;
}

function isMessage(value: unknown): value is JsonObject {
  return isJsonObject(value) && value['jsonrpc'] === '2.0';
}
