import { isUtf8 } from 'node:buffer';
import { byteLength, truncate } from '../../base/text.ts';
import { wholeEnd } from './line-piece.ts';

/** A longer line is cut; what is cut off is read with `column`. */
const MAX_LINE_CHARACTERS = 2000;
const NEWLINE = 10;
/** What is replaced or left out; U+FFFD may stand for bytes that are no UTF-8. */
const NOT_PLAIN = /[\0\uFFFD]|\r$/;
/** UTF-8 takes at most four bytes a character. */
const KEPT_LINE_BYTES = MAX_LINE_CHARACTERS * 4;

export interface LineWindowOptions {
  /** Number of the first line wanted, from 1. */
  readonly first: number;
  readonly count: number;
  /** For all numbered lines together. */
  readonly maxBytes: number;
}

/**
 * Takes the bytes of a file as they come and keeps a window of numbered lines (`12<TAB>text`), so
 * that a file of any size is read in bounded memory. Line ends are left out.
 */
export class LineWindow {
  readonly lines: string[] = [];
  /** Lines seen so far, whole ones. */
  total = 0;
  cutLines = 0;
  /** Some line is not valid UTF-8: its odd bytes became U+FFFD. */
  lossy = false;
  /** The window ended because of `maxBytes`, before `count`. */
  outOfBytes = false;

  readonly #options: LineWindowOptions;
  #bytes = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #lineBytes = 0;

  constructor(options: LineWindowOptions) {
    this.#options = options;
  }

  /** Number of the first line after the window. */
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
      if (!this.#takePlain(chunk, start, end)) {
        this.#append(chunk.subarray(start, end));
        this.#endLine();
      }
      start = end + 1;
    }
  }

  /**
   * A line that lies whole in its chunk and is shown as it is, as nearly all are: without buffers of its own.
   * False: it is none.
   */
  #takePlain(chunk: Buffer, start: number, end: number): boolean {
    if (this.#lineBytes > 0 || end - start > MAX_LINE_CHARACTERS) return false;
    if (this.#wantsLine()) {
      const text = chunk.toString('utf8', start, end);
      if (NOT_PLAIN.test(text)) return false;
      this.#add(text);
    }
    this.total += 1;
    return true;
  }

  /** A last line without a line end counts, too. */
  end(): void {
    if (this.#lineBytes > 0) this.#endLine();
  }

  #append(piece: Buffer): void {
    this.#lineBytes += piece.length;
    const room = KEPT_LINE_BYTES - this.#keptBytes;
    if (room <= 0 || piece.length === 0 || !this.#wantsLine()) return;
    const part = piece.subarray(0, room);
    this.#kept.push(part);
    this.#keptBytes += part.length;
  }

  /** The beginning of a line that goes on in the next chunk, when the bytes of this one are gone. */
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
    const bytes = complete ? kept : kept.subarray(0, wholeEnd(kept));
    const isText = isUtf8(bytes);
    if (!isText) this.lossy = true;
    const raw = bytes.toString('utf8');
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const text = line.replaceAll('\0', '\u2400');
    const shown = truncate(text, MAX_LINE_CHARACTERS);
    if (complete && shown.length === text.length) return text;
    this.cutLines += 1;
    // Of what is no UTF-8 it is not known how many bytes are shown: no fewer than characters.
    const bytesShown = isText ? byteLength(raw.slice(0, shown.length)) : MAX_LINE_CHARACTERS;
    const rest = `offset ${this.total + 1}, column ${bytesShown + 1}`;
    return `${shown}… [line cut: ${this.#lineBytes} bytes; the rest: ${rest}]`;
  }
}
