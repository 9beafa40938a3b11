import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import { plainText } from '../../sys/plain-text.ts';

const NEWLINE = 0x0a;
/** The bytes of the replacement character, which stands for a byte that is not UTF-8. */
const MAX_GROWTH = 3;

/** A part of an output file as plain text, with its position in bytes. */
export type OutputPart =
  | {
      readonly ok: true;
      readonly text: string;
      readonly start: number;
      /** The offset at which the next part starts. */
      readonly end: number;
      /** The present size of the file. */
      readonly size: number;
    }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads a part of a file. It ends after a line where at least half of the part remains then, and never within a
 * character.
 *
 * @param offset the first byte to read; null for the end of the file
 * @param maxBytes the most bytes that the text may take
 */
export function readOutputPart(path: string, offset: number | null, maxBytes: number): OutputPart {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    return { ok: false, problem: errorMessage(thrown) };
  }
  try {
    const part = readPart(fd, offset, maxBytes);
    return byteLength(part.text) <= maxBytes
      ? part
      : readPart(fd, offset, Math.max(1, Math.floor(maxBytes / MAX_GROWTH)));
  } catch (thrown) {
    return { ok: false, problem: errorMessage(thrown) };
  } finally {
    closeSync(fd);
  }
}

function readPart(fd: number, offset: number | null, maxBytes: number): OutputPart & { ok: true } {
  const { size } = fstatSync(fd);
  const from = offset ?? Math.max(0, size - maxBytes);
  if (from >= size) return { ok: true, text: '', start: from, end: from, size };
  const buffer = Buffer.alloc(Math.min(maxBytes, size - from));
  const bytes = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
  const first = from === 0 ? 0 : findStart(bytes, { atLine: offset === null });
  const last = from + bytes.length === size ? bytes.length : findEnd(bytes, first);
  const text = plainText(bytes.toString('utf8', first, last)).trimEnd();
  return { ok: true, text, start: from + first, end: from + last, size };
}

function findStart(bytes: Buffer, { atLine }: { readonly atLine: boolean }): number {
  const line = bytes.indexOf(NEWLINE) + 1;
  if (atLine && line > 0 && line <= bytes.length / 2) return line;
  let start = 0;
  while (start < bytes.length && start < 4 && isContinuation(bytes[start])) start += 1;
  // Bytes that are not UTF-8 have no start of a character to look for.
  return start < 4 && start < bytes.length ? start : 0;
}

function findEnd(bytes: Buffer, first: number): number {
  const line = bytes.lastIndexOf(NEWLINE) + 1;
  if (line > first && line >= bytes.length / 2) return line;
  for (let back = 1; back <= 4 && bytes.length - back > first; back += 1) {
    const byte = bytes[bytes.length - back];
    if (isContinuation(byte)) continue;
    const isComplete = back >= characterLength(byte);
    return isComplete ? bytes.length : bytes.length - back;
  }
  return bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

/** Returns the number of bytes of the character that starts with this byte. */
function characterLength(byte: number | undefined): number {
  if (byte === undefined || byte < 0b1100_0000) return 1;
  if (byte < 0b1110_0000) return 2;
  return byte < 0b1111_0000 ? 3 : 4;
}
