import { Transform, type TransformCallback } from 'node:stream';
import { INVALID_REQUEST, PARSE_ERROR, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { isJsonObject } from '../../base/json.ts';

/** A message of a client that cannot be used. */
export interface UnusableMessage {
  /** The code of the error of the protocol. */
  readonly code: number;
  readonly problem: string;
  /** The id of the request; null if it is not known. */
  readonly id: string | number | null;
}

const NEWLINE = 0x0a;

/**
 * Passes on the lines that are messages of the protocol, each as one chunk, and reports all others. A line that is too long is
 * skipped without being kept, so that the messages after it can be read.
 */
export class ClientMessageLines extends Transform {
  readonly #maxBytes: number;
  readonly #onUnusable: (message: UnusableMessage) => void;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number, onUnusable: (message: UnusableMessage) => void) {
    super();
    this.#maxBytes = maxBytes;
    this.#onUnusable = onUnusable;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
    done();
  }

  #add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= this.#maxBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #endLine(): void {
    const [length, line] = [this.#length, Buffer.concat(this.#pieces)];
    this.#pieces = [];
    this.#length = 0;
    const unusable =
      length > this.#maxBytes ? this.#tooLong(length) : checkMessage(line.toString('utf8'));
    if (unusable === null) this.push(Buffer.concat([line, Buffer.of(NEWLINE)]));
    else if (unusable !== 'empty') this.#onUnusable(unusable);
  }

  #tooLong(length: number): UnusableMessage {
    const problem = `the message has ${length} bytes, which is more than the limit of ${this.#maxBytes}`;
    return { code: INVALID_REQUEST, problem, id: null };
  }
}

/** Checks a line. Returns null for a message of the protocol. */
export function checkMessage(line: string): UnusableMessage | 'empty' | null {
  if (line.trim() === '') return 'empty';
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { code: PARSE_ERROR, problem: 'the message is not valid JSON', id: null };
  }
  try {
    parseJSONRPCMessage(value);
    return null;
  } catch {
    const id = isJsonObject(value) ? value['id'] : null;
    const known = typeof id === 'string' || typeof id === 'number' ? id : null;
    return { code: INVALID_REQUEST, problem: 'the message is none of JSON-RPC 2.0', id: known };
  }
}
