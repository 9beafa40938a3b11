import { fstatSync, readSync } from 'node:fs';

/** The smallest buffer for further reads, in bytes. */
const SMALL = 4096;

/**
 * Reads an open file; undefined if it has more than `maxBytes`, whatever its reported size is. Reads at most
 * one byte more than the limit.
 */
export function readWithLimit(descriptor: number, maxBytes: number): Buffer | undefined {
  const { size: claimed } = fstatSync(descriptor);
  if (claimed > maxBytes) return undefined;
  // A file that grows, or that claims to be empty and is not (as in /proc), is read to its end.
  const chunks: Buffer[] = [];
  let length = 0;
  let wanted = claimed + 1;
  while (length <= maxBytes) {
    const chunk = Buffer.allocUnsafe(wanted);
    const read = readSync(descriptor, chunk, 0, wanted, null);
    if (read === 0) return Buffer.concat(chunks, length);
    chunks.push(chunk.subarray(0, read));
    length += read;
    // Mostly to be told that nothing more is there: no large buffer for that.
    wanted = Math.min(Math.max(SMALL, length), maxBytes + 1 - length);
  }
  return undefined;
}
