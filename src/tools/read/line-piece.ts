import { isUtf8 } from 'node:buffer';

const NEWLINE = 10;

/** The part of a line that is wanted. */
export interface LinePieceOptions {
  /** The number of the line, from 1. */
  readonly line: number;
  /** The first byte of the line to show, from 1. */
  readonly column: number;
  readonly maxBytes: number;
}

/**
 * Takes the chunks of a file and keeps a piece of one line, however long the line is. The piece begins and ends with a
 * complete character, so that consecutive pieces together make the line.
 */
export class LinePiece {
  /** The number of bytes of the line so far. */
  lineBytes = 0;
  readonly #options: LinePieceOptions;
  #line = 1;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #isOver = false;

  constructor(options: LinePieceOptions) {
    this.#options = options;
  }

  /** Whether no more of the file is needed. */
  get isFull(): boolean {
    return this.#isOver || this.#keptBytes === this.#options.maxBytes;
  }

  /** Whether the end of the line was reached. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the file has that line. */
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

  /** Whether the piece is not valid UTF-8, so that bytes became U+FFFD. */
  get hasInvalidBytes(): boolean {
    return !isUtf8(this.#part().bytes);
  }

  /** Returns the piece as text, with its first byte and the byte after its last, both from 1. */
  piece(): { readonly text: string; readonly first: number; readonly next: number } {
    const { bytes, from } = this.#part();
    const text = bytes.toString('utf8').replace(/\r$/, '').replaceAll('\0', '\u2400');
    const first = this.#options.column + from;
    return { text, first, next: first + bytes.length };
  }

  /** Returns the complete characters, and the number of bytes before them that belong to an earlier one. */
  #part(): { readonly bytes: Buffer; readonly from: number } {
    const bytes = Buffer.concat(this.#kept);
    const isEnd = this.#options.column - 1 + bytes.length >= this.lineBytes;
    const from = leadingContinuations(bytes);
    const to = isEnd ? bytes.length : Math.max(from + 1, lastCharacterEnd(bytes));
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

/** The number of bytes at the beginning, at most three, that belong to an earlier character. */
function leadingContinuations(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at += 1;
  return isContinuation(bytes[at]) ? 0 : at;
}

/** The end of the last complete character. */
export function lastCharacterEnd(bytes: Buffer): number {
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
