import { isUtf8 } from 'node:buffer';

const NEWLINE = 10;

export interface LinePieceOptions {
  /** Number of the line, from 1. */
  readonly line: number;
  /** Its first byte that is wanted, from 1. */
  readonly column: number;
  readonly maxBytes: number;
}

/**
 * Takes the bytes of a file as they come and keeps a piece of one line, however long that is. It begins and
 * ends with a whole character, so that pieces put together are the line.
 */
export class LinePiece {
  /** Bytes of the line seen so far. */
  lineBytes = 0;
  readonly #options: LinePieceOptions;
  #line = 1;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #isOver = false;

  constructor(options: LinePieceOptions) {
    this.#options = options;
  }

  /** Nothing more of the file need be looked at. */
  get isFull(): boolean {
    return this.#isOver || this.#keptBytes === this.#options.maxBytes;
  }

  /** The end of the line was seen. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The file has that line. */
  get isThere(): boolean {
    return this.#line > this.#options.line || this.lineBytes > 0;
  }

  push(chunk: Buffer): void {
    for (let start = 0; start < chunk.length && !this.#isOver;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline === -1 ? chunk.length : newline;
      if (this.#line === this.#options.line) this.#take(chunk.subarray(start, end));
      if (newline === -1) return;
      this.#line += 1;
      this.#isOver = this.#line > this.#options.line;
      start = end + 1;
    }
  }

  /** The piece is not valid UTF-8: its odd bytes became U+FFFD. */
  get lossy(): boolean {
    return !isUtf8(this.#part().bytes);
  }

  /** The piece as text, its first byte and the one behind its last, both from 1. */
  piece(): { readonly text: string; readonly first: number; readonly next: number } {
    const { bytes, from } = this.#part();
    const text = bytes.toString('utf8').replace(/\r$/, '').replaceAll('\0', '\u2400');
    const first = this.#options.column + from;
    return { text, first, next: first + bytes.length };
  }

  /** Whole characters, and how many bytes of another one stand in front of them. */
  #part(): { readonly bytes: Buffer; readonly from: number } {
    const bytes = Buffer.concat(this.#kept);
    const isEnd = this.#options.column - 1 + bytes.length >= this.lineBytes;
    const from = leftover(bytes);
    const to = isEnd ? bytes.length : Math.max(from + 1, wholeEnd(bytes));
    return { bytes: bytes.subarray(from, to), from };
  }

  #take(part: Buffer): void {
    const { column, maxBytes } = this.#options;
    const skipped = Math.max(0, column - 1 - this.lineBytes);
    this.lineBytes += part.length;
    const wanted = part.subarray(skipped, skipped + maxBytes - this.#keptBytes);
    if (wanted.length === 0) return;
    this.#kept.push(Buffer.from(wanted));
    this.#keptBytes += wanted.length;
  }
}

/** Bytes at the beginning that belong to a character before it: at most three can. */
function leftover(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at += 1;
  return isContinuation(bytes[at]) ? 0 : at;
}

/** Where the last character that is whole ends. */
export function wholeEnd(bytes: Buffer): number {
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
