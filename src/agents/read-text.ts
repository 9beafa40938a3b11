import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorMessage } from '../base/errors.ts';

/** Bytes of one agent file. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

type ReadText =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | { readonly ok: false; readonly code: string; readonly reason: string };

/**
 * A regular file as text: never a link, device or pipe, never more than 4 MB, never binary. `path` is
 * a real path; a link put there since it was resolved is refused.
 */
export function readText(path: string): ReadText {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return refused('unreadable', `Cannot be read: ${errorMessage(error)}`);
  }
  try {
    if (!fstatSync(descriptor).isFile()) return refused('not-a-file', 'Not a regular file.');
    return decode(readBytes(descriptor));
  } catch (error) {
    return refused('unreadable', `Cannot be read: ${errorMessage(error)}`);
  } finally {
    closeSync(descriptor);
  }
}

/** At most one byte over the limit, whatever size the file claims to have. */
function readBytes(descriptor: number): Buffer {
  const size = Math.min(fstatSync(descriptor).size, MAX_FILE_BYTES) + 1;
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(descriptor, buffer, length, size - length, null);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}

function decode(bytes: Buffer): ReadText {
  if (bytes.length > MAX_FILE_BYTES) {
    return refused('too-large', `Larger than ${MAX_FILE_BYTES / 1024 / 1024} MB.`);
  }
  if (bytes.includes(0)) return refused('binary', 'A binary file (it holds NUL bytes).');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { ok: true, text, bytes: bytes.length };
  } catch {
    // The decoder throws for nothing else.
    return refused('not-utf8', 'Not UTF-8 text. Save it as UTF-8.');
  }
}

function refused(code: string, reason: string): ReadText {
  return { ok: false, code, reason };
}
