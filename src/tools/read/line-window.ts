import { isUtf8 } from 'node:buffer';
import { byteLength, truncate } from '../../base/text.ts';

/** The maximum number of characters of a line that are shown. The rest of a longer line can be read with `column`. */
const MAX_LINE_CHARACTERS = 2000;
const NEWLINE = 10;
/** Matches characters that are replaced or removed. U+FFFD may stand for bytes that are not UTF-8. */
const SPECIAL_CHARACTERS = /[\0\uFFFD]|\r$/;
/** The maximum number of bytes of a line that are kept. UTF-8 needs at most four bytes for a character. */
const MAX_KEPT_BYTES = MAX_LINE_CHARACTERS * 4;

/** The lines that a window contains. */
export interface LineWindowOptions {
  /** The number of the first line, from 1. */
  readonly first: number;
  readonly count: number;
  /** The size limit of all numbered lines together. */
  readonly maxBytes: number;
}

/**
 * Receives the chunks of a file, and keeps a window of numbered lines (`12<TAB>text`) without their line ends. A file
 * of any size is read in bounded memory.
 */
export class LineWindow {
  readonly lines: string[] = [];
  /** The number of complete lines so far. */
  total = 0;
  /** The number of lines of the window that were shortened. */
  cutLines = 0;
  /** Whether a line of the window was not valid UTF-8, so that some of its bytes became U+FFFD. */
  hasInvalidBytes = false;
  /** Whether the window ended before `count` lines, because `maxBytes` was reached. */
  outOfBytes = false;

  readonly #options: LineWindowOptions;
  #bytes = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #lineBytes = 0;

  constructor(options: LineWindowOptions) {
    this.#options = options;
  }

  /** The number of the first line after the window. */
  get next(): number {
    return this.#options.first + this.lines.length;
  }

  get isFull(): boolean {
    return this.outOfBytes || this.lines.length === this.#options.count;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) {
        this.#keepRest(chunk.subarray(start));
        return;
      }
      if (!this.#addPlainLine(chunk, start, end)) {
        this.#append(chunk.subarray(start, end));
        this.#endLine();
      }
      start = end + 1;
    }
  }

  /**
   * Adds a line without copying bytes. This works for nearly all lines: those that are completely inside one chunk and
   * are shown unchanged. Returns false for any other line.
   */
  #addPlainLine(chunk: Buffer, start: number, end: number): boolean {
    if (this.#lineBytes > 0 || end - start > MAX_LINE_CHARACTERS) return false;
    if (this.#wantsLine()) {
      const text = chunk.toString('utf8', start, end);
      if (SPECIAL_CHARACTERS.test(text)) return false;
      this.#add(text);
    }
    this.total += 1;
    return true;
  }

  /** Handles the end of the file. The last line counts even if it has no line end. */
  end(): void {
    if (this.#lineBytes > 0) this.#endLine();
  }

  #append(piece: Buffer): void {
    this.#lineBytes += piece.length;
    const room = MAX_KEPT_BYTES - this.#keptBytes;
    if (room <= 0 || piece.length === 0 || !this.#wantsLine()) return;
    const part = piece.subarray(0, room);
    this.#kept.push(part);
    this.#keptBytes += part.length;
  }

  /**
   * Copies the beginning of a line that continues in the next chunk. The next chunk may reuse the memory of this chunk.
   */
  #keepRest(piece: Buffer): void {
    this.#append(piece);
    const last = this.#kept.pop();
    if (last !== undefined) this.#kept.push(Buffer.from(last));
  }

  #wantsLine(): boolean {
    return this.total + 1 >= this.#options.first && !this.isFull;
  }

  #endLine(): void {
    if (this.#wantsLine()) this.#take();
    this.total += 1;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#lineBytes = 0;
  }

  #take(): void {
    this.#add(this.#lineText());
  }

  #add(text: string): void {
    const line = `${this.total + 1}\t${text}`;
    this.#bytes += byteLength(line) + 1;
    if (this.#bytes > this.#options.maxBytes) this.outOfBytes = true;
    else this.lines.push(line);
  }

  #lineText(): string {
    const complete = this.#keptBytes === this.#lineBytes;
    const [first, ...more] = this.#kept;
    const kept = first !== undefined && more.length === 0 ? first : Buffer.concat(this.#kept);
    const bytes = complete ? kept : kept.subarray(0, findLastCharacterEnd(kept));
    const isText = isUtf8(bytes);
    if (!isText) this.hasInvalidBytes = true;
    const raw = bytes.toString('utf8');
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const text = line.replaceAll('\0', '\u2400');
    const shown = truncate(text, MAX_LINE_CHARACTERS);
    if (complete && shown.length === text.length) return text;
    this.cutLines += 1;
    // If the line is not valid UTF-8, the number of shown bytes is unknown, but it is at least the number of
    // characters.
    const bytesShown = isText ? byteLength(raw.slice(0, shown.length)) : MAX_LINE_CHARACTERS;
    const rest = `offset ${this.total + 1}, column ${bytesShown + 1}`;
    return `${shown}… [line cut: ${this.#lineBytes} bytes; the rest: ${rest}]`;
  }
}

/** The part of a line to show. */
export interface LinePieceOptions {
  /** The number of the line, from 1. */
  readonly line: number;
  /** The position of the first byte of the part in its line, from 1. */
  readonly column: number;
  readonly maxBytes: number;
}

/**
 * Receives the chunks of a file, and keeps a piece of one line, however long the line is. The piece begins and ends
 * with a complete character, so that consecutive pieces together give the full line.
 */
export class LinePiece {
  /** The number of bytes of the line that have been read so far. */
  lineBytes = 0;
  readonly #options: LinePieceOptions;
  #line = 1;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #isOver = false;

  constructor(options: LinePieceOptions) {
    this.#options = options;
  }

  /** Whether the piece is complete, so that no more chunks are needed. */
  get isFull(): boolean {
    return this.#isOver || this.#keptBytes === this.#options.maxBytes;
  }

  /** Whether the end of the line was reached. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the file has a line with the requested number. */
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
    return !isUtf8(this.#completeCharacters().bytes);
  }

  /**
   * Returns the piece as text, the position of its first byte, and the position after its last byte. Positions start at
   * 1.
   */
  piece(): { readonly text: string; readonly first: number; readonly next: number } {
    const { bytes, from } = this.#completeCharacters();
    const text = bytes.toString('utf8').replace(/\r$/, '').replaceAll('\0', '\u2400');
    const first = this.#options.column + from;
    return { text, first, next: first + bytes.length };
  }

  /**
   * Returns the bytes of the complete characters, and the number of bytes before them that belong to an earlier
   * character.
   */
  #completeCharacters(): { readonly bytes: Buffer; readonly from: number } {
    const bytes = Buffer.concat(this.#kept);
    const isEnd = this.#options.column - 1 + bytes.length >= this.lineBytes;
    const from = countLeadingContinuations(bytes);
    const to = isEnd ? bytes.length : Math.max(from + 1, findLastCharacterEnd(bytes));
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

/** Counts the bytes at the beginning that belong to an earlier character. There are at most three. */
function countLeadingContinuations(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at += 1;
  return isContinuation(bytes[at]) ? 0 : at;
}

/** Returns the position after the last complete character. */
function findLastCharacterEnd(bytes: Buffer): number {
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
