import { MusterError } from '../../base/errors.ts';
import {
  BYTE_ORDER_MARK,
  decodeText,
  encodeText,
  encodingOf,
  markedEncoding,
  type TextEncoding,
} from './text-encoding.ts';

/** As much of a file as is looked at to tell text from binary. */
export const SAMPLE_BYTES = 8192;

const SIGNATURES: readonly (readonly [string, string])[] = [
  ['89504e47', 'PNG image'],
  ['ffd8ff', 'JPEG image'],
  ['47494638', 'GIF image'],
  ['52494646', 'RIFF file (WebP, WAV or AVI)'],
  ['25504446', 'PDF document'],
  ['504b0304', 'ZIP archive (or a format built on it)'],
  ['1f8b', 'gzip data'],
  ['28b52ffd', 'Zstandard data'],
  ['fd377a58', 'xz data'],
  ['7f454c46', 'ELF program'],
  ['cffaedfe', 'Mach-O program'],
  ['0061736d', 'WebAssembly module'],
  ['53514c697465', 'SQLite database'],
];

/** What kind of binary file begins with these bytes; undefined when it is text, UTF-16 with its mark too. */
export function binaryKind(sample: Buffer): string | undefined {
  const encoding = markedEncoding(sample);
  if (encoding !== null && isWideText(decodeText(sample, encoding))) return undefined;
  const start = sample.subarray(0, 8).toString('hex');
  const signature = SIGNATURES.find(([bytes]) => start.startsWith(bytes));
  const binary = sample.includes(0) || encoding !== null || !isMostlyText(sample);
  if (signature !== undefined && (binary || signature[1] === 'PDF document')) return signature[1];
  return binary ? 'binary data' : undefined;
}

/** Whether a beginning of UTF-16, which may end within a pair, is text. */
function isWideText(text: string): boolean {
  return !text.includes('\0') && text.slice(0, -1).isWellFormed() && isMostlyText(codesOf(text));
}

/** What tells text from other data, as bytes. */
function codesOf(text: string): Buffer {
  return Buffer.from(Array.from(text, (each) => Math.min(each.charCodeAt(0), 0x80)));
}

function isMostlyText(sample: Buffer): boolean {
  let odd = 0;
  // By index: an iterator makes an object of each byte.
  for (let at = 0; at < sample.length; at += 1) {
    const byte = sample[at] ?? 0;
    const control = byte < 32 && (byte < 8 || byte > 13) && byte !== 27;
    if (control || byte === 127) odd += 1;
  }
  return odd * 10 <= sample.length;
}

/** A text file taken apart, so that an edit can put it together again as it was. */
export interface FileText {
  /** Without the byte order mark. */
  readonly text: string;
  readonly mark: string;
  readonly encoding: TextEncoding;
  /** How most of its lines end. */
  readonly lineEnd: '\n' | '\r\n';
}

/** Throws INVALID_PARAM for what cannot be changed as text without damage. */
export function decodeForEdit(path: string, bytes: Buffer): FileText {
  const kind = binaryKind(bytes.subarray(0, SAMPLE_BYTES));
  if (kind !== undefined) {
    throw new MusterError('INVALID_PARAM', `${path} is ${kind}: it cannot be edited as text`);
  }
  const encoding = encodingOf(bytes);
  if (encoding === null) {
    const marked = markedEncoding(bytes) ?? 'UTF-8';
    throw new MusterError(
      'INVALID_PARAM',
      `${path} is not valid ${marked}, and not windows-1252 (Latin-1) either: editing it as text would damage it. Convert it first, or use Bash.`,
    );
  }
  const whole = decodeText(bytes, encoding);
  const mark = whole.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const text = whole.slice(mark.length);
  return { text, mark, encoding, lineEnd: lineEndOf(text) };
}

/** The bytes of a changed text in the encoding of its file. Throws INVALID_PARAM for what that lacks. */
export function encodeLike(
  shown: string,
  text: string,
  { mark, encoding }: Pick<FileText, 'mark' | 'encoding'>,
): Buffer {
  // Marked after it is encoded: the lines of an error are those of the text.
  const marked = encodeText(shown, text, encoding);
  return mark === '' ? marked : Buffer.concat([encodeText(shown, mark, encoding), marked]);
}

function lineEndOf(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1;
  const windows = text.split('\r\n').length - 1;
  return windows * 2 > all ? '\r\n' : '\n';
}

/** The text with every line ending as the file's do; a file with plain ends takes it as it is. */
export function withLineEnd(text: string, lineEnd: '\n' | '\r\n'): string {
  return lineEnd === '\n' ? text : text.replaceAll(/\r?\n/g, '\r\n');
}
