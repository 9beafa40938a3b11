import { isUtf8 } from 'node:buffer';
import { MusterError } from '../../base/errors.ts';

/** How the text of a file is kept. The two with 16 bits are known by their byte order mark. */
export type TextEncoding = 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'windows-1252';

export const BYTE_ORDER_MARK = '\uFEFF';

/** The characters that windows-1252 has for the bytes from 0x80 to 0x9F; a blank: none. */
const WINDOWS_1252 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';
const FIRST_OWN_BYTE = 0x80;
const FIRST_LATIN_1_BYTE = 0xa0;
const BYTES: ReadonlyMap<string, number> = new Map(
  [...WINDOWS_1252].flatMap((character, index) =>
    character === ' ' ? [] : [[character, FIRST_OWN_BYTE + index] as const],
  ),
);

/** The encoding that a byte order mark of UTF-16 at the beginning tells; null: there is none. */
export function markedEncoding(head: Buffer): 'UTF-16LE' | 'UTF-16BE' | null {
  const [first, second, third, fourth] = head;
  if (first === 0xfe && second === 0xff) return 'UTF-16BE';
  // Two zeros behind it make it the mark of UTF-32.
  const isWider = third === 0 && fourth === 0;
  return first === 0xff && second === 0xfe && !isWider ? 'UTF-16LE' : null;
}

/** The encoding of a whole file that is no binary data; null: none of those that are known. */
export function encodingOf(bytes: Buffer): TextEncoding | null {
  const marked = markedEncoding(bytes);
  if (marked !== null) {
    return bytes.length % 2 === 0 && decodeText(bytes, marked).isWellFormed() ? marked : null;
  }
  if (isUtf8(bytes)) return 'UTF-8';
  const census = new ByteCensus();
  census.add(bytes);
  return census.isWindows1252 ? 'windows-1252' : null;
}

/** The text of bytes, byte order mark and all. */
export function decodeText(bytes: Buffer, encoding: TextEncoding): string {
  switch (encoding) {
    case 'UTF-8':
      return bytes.toString('utf8');
    case 'UTF-16LE':
      return bytes.toString('utf16le');
    case 'UTF-16BE':
      return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)))
        .swap16()
        .toString('utf16le');
    case 'windows-1252':
      return bytes
        .toString('latin1')
        .replaceAll(
          /[\u0080-\u009F]/g,
          (byte) => WINDOWS_1252[byte.charCodeAt(0) - FIRST_OWN_BYTE] ?? byte,
        );
  }
}

/** The bytes of a text. Throws INVALID_PARAM, with the line, for a character that the encoding lacks. */
export function encodeText(shown: string, text: string, encoding: TextEncoding): Buffer {
  const half = loneSurrogate(text);
  if (half !== -1) throw lacking(shown, { text, at: half, encoding });
  switch (encoding) {
    case 'UTF-8':
      return Buffer.from(text, 'utf8');
    case 'UTF-16LE':
      return Buffer.from(text, 'utf16le');
    case 'UTF-16BE':
      return Buffer.from(text, 'utf16le').swap16();
    case 'windows-1252':
      return toWindows1252(shown, text);
  }
}

function toWindows1252(shown: string, text: string): Buffer {
  const bytes = Buffer.alloc(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isOwn = code < FIRST_OWN_BYTE || (code >= FIRST_LATIN_1_BYTE && code <= 0xff);
    const byte = isOwn ? code : BYTES.get(text.charAt(at));
    if (byte === undefined) throw lacking(shown, { text, at, encoding: 'windows-1252' });
    bytes[at] = byte;
  }
  return bytes;
}

/** Where half of a surrogate pair stands alone, which no encoding has; -1: nowhere. */
function loneSurrogate(text: string): number {
  return text.isWellFormed() ? -1 : text.search(/\p{Surrogate}/u);
}

interface LackingPlace {
  readonly text: string;
  readonly at: number;
  readonly encoding: TextEncoding;
}

function lacking(shown: string, { text, at, encoding }: LackingPlace): MusterError {
  const code = text.codePointAt(at) ?? 0;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  const what = isHalf ? `half of a character (${name})` : `${String.fromCodePoint(code)} (${name})`;
  const line = text.slice(0, at).split('\n').length;
  const way =
    encoding === 'windows-1252' ? ', or convert the file to UTF-8 first (iconv, in Bash)' : '';
  return new MusterError(
    'INVALID_PARAM',
    `${shown}: line ${line} would hold ${what}, which the encoding of the file, ${encoding}, does not have. Nothing was changed. Use other characters${way}.`,
  );
}

/** Bytes that windows-1252 gives no character. Other encodings use them often. */
const UNUSED: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** Looks at bytes that are no valid UTF-8, in pieces, to tell windows-1252 from damaged UTF-8 and all else. */
export class ByteCensus {
  private sequences = 0;
  private others = 0;
  private hasUnused = false;
  /** Bytes that the sequence still needs, and those that it has. */
  private missing = 0;
  private pending: number[] = [];

  add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte >= 0x80 || this.missing > 0) this.addByte(byte);
    }
  }

  /** Most of what is not ASCII is no UTF-8, and every byte of it is a character. */
  get isWindows1252(): boolean {
    const isUnused = this.hasUnused || this.pending.some((byte) => UNUSED.has(byte));
    return !isUnused && this.others + this.pending.length > this.sequences;
  }

  private addByte(byte: number): void {
    if (this.missing > 0 && (byte & 0xc0) === 0x80) {
      this.pending.push(byte);
      this.missing -= 1;
      if (this.missing > 0) return;
      this.sequences += 1;
      this.pending = [];
      return;
    }
    for (const each of this.pending) this.addOther(each);
    this.pending = [];
    this.missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
    if (byte > 0xf4) this.missing = 0;
    if (this.missing > 0) this.pending.push(byte);
    else if (byte >= 0x80) this.addOther(byte);
  }

  private addOther(byte: number): void {
    this.others += 1;
    this.hasUnused ||= UNUSED.has(byte);
  }
}

/** Turns the bytes of a file that come in pieces into UTF-8, without a byte order mark. */
export class Transcoder {
  private readonly encoding: TextEncoding;
  private readonly decoder: InstanceType<typeof TextDecoder> | null;
  private isAtStart = true;

  constructor(encoding: TextEncoding) {
    this.encoding = encoding;
    const isWide = encoding === 'UTF-16LE' || encoding === 'UTF-16BE';
    this.decoder = isWide ? new TextDecoder(encoding.toLowerCase()) : null;
  }

  push(bytes: Buffer): Buffer {
    if (this.decoder !== null) return Buffer.from(this.decoder.decode(bytes, { stream: true }));
    if (this.encoding !== 'UTF-8') return Buffer.from(decodeText(bytes, this.encoding), 'utf8');
    const mark = this.isAtStart && bytes.subarray(0, 3).toString('hex') === 'efbbbf' ? 3 : 0;
    this.isAtStart = false;
    return bytes.subarray(mark);
  }

  /** What a last piece that was cut through leaves. */
  end(): Buffer {
    return Buffer.from(this.decoder?.decode() ?? '', 'utf8');
  }
}
