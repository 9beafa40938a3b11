import { createHash } from 'node:crypto';
import { MusterError } from '../../base/errors.ts';
import type { OpenFile } from '../../sys/files/open-in-roots.ts';
import { fileChunks } from '../../sys/files/read-file.ts';
import {
  BYTE_ORDER_MARK,
  decodeText,
  encodeText,
  detectEncoding,
  markedEncoding,
  type TextEncoding,
} from './text-encoding.ts';

/** The number of bytes at the start of a file that decide whether it is text or binary. */
export const SAMPLE_BYTES = 8192;

/** The first bytes (in hexadecimal) of binary formats, and the names of the formats. */
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

/**
 * Names the kind of binary file that begins with these bytes. Returns undefined for text, including UTF-16 with a byte
 * order mark.
 */
export function detectBinaryKind(sample: Buffer): string | undefined {
  const encoding = markedEncoding(sample);
  if (encoding !== null && isWideText(decodeText(sample, encoding))) return undefined;
  const start = sample.subarray(0, 8).toString('hex');
  const signature = SIGNATURES.find(([bytes]) => start.startsWith(bytes));
  const binary = sample.includes(0) || encoding !== null || !isMostlyText(sample);
  if (signature !== undefined && (binary || signature[1] === 'PDF document')) return signature[1];
  return binary ? 'binary data' : undefined;
}

/** Returns whether the beginning of a UTF-16 file is text. The beginning may end in the middle of a surrogate pair. */
function isWideText(text: string): boolean {
  return !text.includes('\0') && text.slice(0, -1).isWellFormed() && isMostlyText(toBytes(text));
}

/** Maps each character to one byte for `isMostlyText`. */
function toBytes(text: string): Buffer {
  return Buffer.from(Array.from(text, (each) => Math.min(each.charCodeAt(0), 0x80)));
}

function isMostlyText(sample: Buffer): boolean {
  let controlCount = 0;
  // Loop over the index, because an iterator would allocate an object for each byte.
  for (let at = 0; at < sample.length; at += 1) {
    const byte = sample[at] ?? 0;
    const control = byte < 32 && (byte < 8 || byte > 13) && byte !== 27;
    if (control || byte === 127) controlCount += 1;
  }
  return controlCount * 10 <= sample.length;
}

/** The text of a file with the properties of the file that an edit must keep. */
export interface DecodedFile {
  /** The text without the byte order mark. */
  readonly text: string;
  /** The byte order mark, or an empty text if there is none. */
  readonly mark: string;
  readonly encoding: TextEncoding;
  /** The line end that most lines have. */
  readonly lineEnd: '\n' | '\r\n';
}

/** Decodes a file for an edit. Throws INVALID_PARAM for a file that editing as text would damage. */
export function decodeForEdit(path: string, bytes: Buffer): DecodedFile {
  const kind = detectBinaryKind(bytes.subarray(0, SAMPLE_BYTES));
  if (kind !== undefined) {
    throw new MusterError('INVALID_PARAM', `${path} is ${kind}: it cannot be edited as text`);
  }
  const encoding = detectEncoding(bytes);
  if (encoding === null) {
    const marked = markedEncoding(bytes) ?? 'UTF-8';
    const message = `${path} is not valid ${marked}, and not windows-1252 (Latin-1) either: editing it as text would damage it. Convert it first, or use Bash.`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const decoded = decodeText(bytes, encoding);
  const mark = decoded.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const text = decoded.slice(mark.length);
  return { text, mark, encoding, lineEnd: findLineEnd(text) };
}

/**
 * Encodes a changed text in the encoding of its file. Throws INVALID_PARAM for a character that the encoding does not
 * have.
 */
export function encodeLikeFile(
  shown: string,
  text: string,
  { mark, encoding }: Pick<DecodedFile, 'mark' | 'encoding'>,
): Buffer {
  // The mark is added afterwards, so that the line in an error is a line of the text.
  const encoded = encodeText(shown, text, encoding);
  return mark === '' ? encoded : Buffer.concat([encodeText(shown, mark, encoding), encoded]);
}

function findLineEnd(text: string): '\n' | '\r\n' {
  const lineCount = text.split('\n').length - 1;
  const crlfCount = text.split('\r\n').length - 1;
  return crlfCount * 2 > lineCount ? '\r\n' : '\n';
}

/** Gives every line of a text the line end of its file. For LF, the text is returned unchanged. */
export function convertLineEnds(text: string, lineEnd: '\n' | '\r\n'): string {
  return lineEnd === '\n' ? text : text.replaceAll(/\r?\n/g, '\r\n');
}

/**
 * The maximum size in bytes of a file that Edit and Write can replace, and that Read reads completely to hash it and
 * count its lines. Of a larger file, only the requested part is read.
 */
export const MAX_EDIT_BYTES = 32 * 1024 * 1024;

/** Identifies the content of a file that is too large to be hashed each time, by its metadata. */
export function statFingerprint({ stats }: OpenFile): string {
  return `stat:${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

/**
 * Identifies the content of a file: by its sha256 in hexadecimal or, if the file is larger than MAX_EDIT_BYTES, by its
 * `statFingerprint`.
 */
export async function fileFingerprint(file: OpenFile, signal: AbortSignal): Promise<string> {
  if (file.stats.size > BigInt(MAX_EDIT_BYTES)) return statFingerprint(file);
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(file, signal)) hash.update(chunk);
  return hash.digest('hex');
}

/** Reads an open file into memory. Returns null if the file is larger than `maxBytes`. */
export async function readOpenFile(
  file: OpenFile,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer | null> {
  if (file.stats.size > BigInt(maxBytes)) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of fileChunks(file, signal)) {
    size += chunk.length;
    if (size > maxBytes) return null;
    // Copy the chunk, because its memory is reused for the next chunk.
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}
