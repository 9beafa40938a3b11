import { closeSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { MusterError } from '../../base/errors.ts';
import { withHeldDirectory, openHeldFile } from '../../sys/files/open-in-roots.ts';
import {
  BINARY_SAMPLE_BYTES,
  MAX_SEARCHED_BYTES,
  createOpenScope,
  type SearchScope,
} from './search-types.ts';

/** The encodings that a byte order mark can name. */
type MarkedEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32le' | 'utf-32be';

/** The byte order marks, the longest first, because the mark of UTF-32 begins with the mark of UTF-16. */
const BYTE_ORDER_MARKS: readonly (readonly [MarkedEncoding, readonly number[]])[] = [
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Returns the encoding that a byte order mark names, or undefined if there is no mark. */
function findMarkedEncoding(bytes: Buffer): MarkedEncoding | undefined {
  return BYTE_ORDER_MARKS.find(([, mark]) =>
    mark.every((byte, index) => bytes[index] === byte),
  )?.[0];
}

/** Returns whether a file begins with the byte order mark of UTF-32. */
export function isUtf32(bytes: Buffer): boolean {
  return findMarkedEncoding(bytes)?.startsWith('utf-32') === true;
}

/** Decodes a file without its byte order mark. Bytes that cannot be decoded become U+FFFD. */
export function decodeSearchedText(bytes: Buffer): string {
  const encoding = findMarkedEncoding(bytes);
  switch (encoding) {
    case undefined:
      return bytes.toString('utf8');
    case 'utf-8':
      return bytes.toString('utf8', 3);
    case 'utf-16le':
    case 'utf-16be':
      return new TextDecoder(encoding).decode(bytes);
    case 'utf-32le':
    case 'utf-32be':
      return decodeUtf32(bytes, encoding === 'utf-32le');
  }
}

function decodeUtf32(bytes: Buffer, isLittle: boolean): string {
  const parts: string[] = [];
  for (let at = 4; at + 4 <= bytes.length; at += 4) {
    const code = isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    const isCharacter = code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff);
    parts.push(isCharacter ? String.fromCodePoint(code) : '\uFFFD');
  }
  return parts.join('');
}

/**
 * Finds the first NUL character of a file. Returns its offset in the UTF-8 form of the file, or undefined if there is
 * none.
 */
export function firstNul(bytes: Buffer): number | undefined {
  if (findMarkedEncoding(bytes)?.startsWith('utf-16') !== true) {
    const at = bytes.indexOf(0);
    return at === -1 ? undefined : at;
  }
  const text = decodeSearchedText(bytes);
  const index = text.indexOf('\0');
  return index === -1 ? undefined : Buffer.byteLength(text.slice(0, index));
}

/** Returns whether the file at a path in a scope is binary. Returns false for a file that cannot be opened. */
export function isBinaryFile(path: string, scope: SearchScope): boolean {
  const sample = readFirstBytes(path, scope, BINARY_SAMPLE_BYTES);
  return sample !== undefined && firstNul(sample) !== undefined && !isUtf32(sample);
}

/** Reads the text of a scope that is a single file in UTF-32. Returns undefined for any other scope. */
export function readUtf32(scope: SearchScope): string | undefined {
  if (scope.file === undefined) return undefined;
  const start = readFirstBytes(scope.file, scope, 4);
  if (start === undefined || !isUtf32(start)) return undefined;
  const bytes = readFirstBytes(scope.file, scope, MAX_SEARCHED_BYTES);
  return bytes === undefined ? undefined : decodeSearchedText(bytes);
}

function readFirstBytes(path: string, scope: SearchScope, count: number): Buffer | undefined {
  const absolute = join(scope.directory, path);
  const options = createOpenScope(scope, absolute);
  try {
    return withHeldDirectory(dirname(absolute), { roots: scope.roots }, (held) => {
      const { fd, stats } = openHeldFile(held, absolute, options);
      using _close = atScopeEnd(() => closeSync(fd));
      const bytes = Buffer.alloc(Math.min(count, Number(stats.size)));
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
    });
  } catch (thrown) {
    // The file may not be read, or does not exist any more. The search itself reports this.
    if (thrown instanceof MusterError) return undefined;
    throw thrown;
  }
}
