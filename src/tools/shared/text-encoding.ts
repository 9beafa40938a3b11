import { isUtf8 } from 'node:buffer';
import { MusterError } from '../../base/errors.ts';

/** The encodings in which files can be read and written. UTF-16 is recognized only by its byte order mark. */
export type TextEncoding = 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'windows-1252';

export const BYTE_ORDER_MARK = '\uFEFF';

/** The characters of windows-1252 for the bytes from 0x80 to 0x9F. A blank marks an unused byte. */
const WINDOWS_1252 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';
const FIRST_SPECIAL_BYTE = 0x80;
const FIRST_LATIN_1_BYTE = 0xa0;
const BYTE_BY_CHARACTER: ReadonlyMap<string, number> = new Map(
  [...WINDOWS_1252].flatMap((character, index) =>
    character === ' ' ? [] : [[character, FIRST_SPECIAL_BYTE + index] as const],
  ),
);

/** Returns the encoding of a text that begins with a byte order mark of UTF-16, or null if there is no such mark. */
export function markedEncoding(head: Buffer): 'UTF-16LE' | 'UTF-16BE' | null {
  const [first, second, third, fourth] = head;
  if (first === 0xfe && second === 0xff) return 'UTF-16BE';
  // If two zero bytes follow, this is the byte order mark of UTF-32.
  const isUtf32 = third === 0 && fourth === 0;
  return first === 0xff && second === 0xfe && !isUtf32 ? 'UTF-16LE' : null;
}

/** Detects the encoding of a complete text file. Returns null if it is not one of the known encodings. */
export function detectEncoding(bytes: Buffer): TextEncoding | null {
  const marked = markedEncoding(bytes);
  if (marked !== null) {
    return bytes.length % 2 === 0 && decodeText(bytes, marked).isWellFormed() ? marked : null;
  }
  if (isUtf8(bytes)) return 'UTF-8';
  const census = new ByteCensus();
  census.add(bytes);
  return census.isWindows1252 ? 'windows-1252' : null;
}

/** Decodes a text. The result keeps the byte order mark. */
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
          (byte) => WINDOWS_1252[byte.charCodeAt(0) - FIRST_SPECIAL_BYTE] ?? byte,
        );
  }
}

/** Encodes a text. For a character that the encoding does not have, throws INVALID_PARAM with the line. */
export function encodeText(shown: string, text: string, encoding: TextEncoding): Buffer {
  const surrogateAt = findLoneSurrogate(text);
  if (surrogateAt !== -1) throw unencodableError(shown, { text, at: surrogateAt, encoding });
  switch (encoding) {
    case 'UTF-8':
      return Buffer.from(text, 'utf8');
    case 'UTF-16LE':
      return Buffer.from(text, 'utf16le');
    case 'UTF-16BE':
      return Buffer.from(text, 'utf16le').swap16();
    case 'windows-1252':
      return encodeWindows1252(shown, text);
  }
}

function encodeWindows1252(shown: string, text: string): Buffer {
  const bytes = Buffer.alloc(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isLatin1 = code < FIRST_SPECIAL_BYTE || (code >= FIRST_LATIN_1_BYTE && code <= 0xff);
    const byte = isLatin1 ? code : BYTE_BY_CHARACTER.get(text.charAt(at));
    if (byte === undefined) throw unencodableError(shown, { text, at, encoding: 'windows-1252' });
    bytes[at] = byte;
  }
  return bytes;
}

/**
 * Returns the position of a lone half of a surrogate pair, which no encoding can represent. Returns -1 if there is
 * none.
 */
function findLoneSurrogate(text: string): number {
  return text.isWellFormed() ? -1 : text.search(/\p{Surrogate}/u);
}

interface UnencodableCharacter {
  readonly text: string;
  readonly at: number;
  readonly encoding: TextEncoding;
}

function unencodableError(shown: string, character: UnencodableCharacter): MusterError {
  const { text, at, encoding } = character;
  const code = text.codePointAt(at) ?? 0;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  const what = isHalf ? `half of a character (${name})` : `${String.fromCodePoint(code)} (${name})`;
  const line = text.slice(0, at).split('\n').length;
  const advice =
    encoding === 'windows-1252' ? ', or convert the file to UTF-8 first (iconv, in Bash)' : '';
  const message = `${shown}: line ${line} would hold ${what}, which the encoding of the file, ${encoding}, does not have. Nothing was changed. Use other characters${advice}.`;
  return new MusterError('INVALID_PARAM', message);
}

/** The bytes that have no character in windows-1252. In other encodings they are frequent. */
const UNUSED_BYTES: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/**
 * Counts the bytes of a file that is not valid UTF-8, to distinguish windows-1252 from damaged UTF-8 and other data.
 */
export class ByteCensus {
  /** The number of complete UTF-8 sequences. */
  private sequences = 0;
  /** The number of bytes beyond ASCII that do not belong to a UTF-8 sequence. */
  private others = 0;
  private hasUnused = false;
  /** The number of bytes that are missing in the current UTF-8 sequence. */
  private missing = 0;
  /** The bytes of the current UTF-8 sequence. */
  private pending: number[] = [];

  add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte >= 0x80 || this.missing > 0) this.addByte(byte);
    }
  }

  /** Whether most bytes beyond ASCII are not UTF-8, and each of these bytes is a character of windows-1252. */
  get isWindows1252(): boolean {
    const isUnused = this.hasUnused || this.pending.some((byte) => UNUSED_BYTES.has(byte));
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
    this.hasUnused ||= UNUSED_BYTES.has(byte);
  }
}

/** Converts a file, chunk by chunk, to UTF-8 without a byte order mark. */
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

  /** Returns the text of a character that was incomplete at the end of the last chunk. */
  end(): Buffer {
    return Buffer.from(this.decoder?.decode() ?? '', 'utf8');
  }
}
