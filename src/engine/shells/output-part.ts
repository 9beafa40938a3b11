import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import { plainText } from '../../sys/plain-text.ts';

const NEWLINE = 0x0a;
/** What stands for a byte that is no UTF-8 takes this many. */
const MOST_GROWTH = 3;

/** Part of a file of output, as plain text; positions in bytes. */
export type OutputPart =
  | {
      readonly ok: true;
      readonly text: string;
      readonly start: number;
      /** Where to read on. */
      readonly end: number;
      /** Of the whole file by now. */
      readonly size: number;
    }
  | { readonly ok: false; readonly problem: string };

/**
 * The piece of a file from `offset` on, or its end (null), whose text takes at most `most` bytes. Ended
 * after a line where that leaves half of it, and never within a character.
 */
export function readOutputPart(path: string, offset: number | null, most: number): OutputPart {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    return { ok: false, problem: errorMessage(thrown) };
  }
  try {
    const piece = readPart(fd, offset, most);
    return byteLength(piece.text) <= most
      ? piece
      : readPart(fd, offset, Math.max(1, Math.floor(most / MOST_GROWTH)));
  } catch (thrown) {
    return { ok: false, problem: errorMessage(thrown) };
  } finally {
    closeSync(fd);
  }
}

function readPart(fd: number, offset: number | null, most: number): OutputPart & { ok: true } {
  const { size } = fstatSync(fd);
  const from = offset ?? Math.max(0, size - most);
  if (from >= size) return { ok: true, text: '', start: from, end: from, size };
  const buffer = Buffer.alloc(Math.min(most, size - from));
  const bytes = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
  const first = from === 0 ? 0 : beginning(bytes, { atLine: offset === null });
  const last = from + bytes.length === size ? bytes.length : ending(bytes, first);
  const text = plainText(bytes.toString('utf8', first, last)).trimEnd();
  return { ok: true, text, start: from + first, end: from + last, size };
}

function beginning(bytes: Buffer, { atLine }: { readonly atLine: boolean }): number {
  const line = bytes.indexOf(NEWLINE) + 1;
  if (atLine && line > 0 && line <= bytes.length / 2) return line;
  let start = 0;
  while (start < bytes.length && start < 4 && isContinuation(bytes[start])) start += 1;
  // What is no UTF-8 at all has no beginning to look for.
  return start < 4 && start < bytes.length ? start : 0;
}

function ending(bytes: Buffer, first: number): number {
  const line = bytes.lastIndexOf(NEWLINE) + 1;
  if (line > first && line >= bytes.length / 2) return line;
  for (let back = 1; back <= 4 && bytes.length - back > first; back += 1) {
    const byte = bytes[bytes.length - back];
    if (isContinuation(byte)) continue;
    const isWhole = back >= lengthOf(byte);
    return isWhole ? bytes.length : bytes.length - back;
  }
  return bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

/** Bytes of the character that this one begins. */
function lengthOf(byte: number | undefined): number {
  if (byte === undefined || byte < 0b1100_0000) return 1;
  if (byte < 0b1110_0000) return 2;
  return byte < 0b1111_0000 ? 3 : 4;
}
