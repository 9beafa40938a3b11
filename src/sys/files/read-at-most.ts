import { fstatSync, readSync } from 'node:fs';
import { MusterError } from '../../base/errors.ts';

/** The smallest buffer for further reads, in bytes. */
const SMALL = 4096;

/**
 * Reads an open file; undefined if it has more than `maxBytes`, whatever its reported size is. Reads at most
 * one byte more than the limit.
 */
export function readWithLimit(descriptor: number, maxBytes: number): Buffer | undefined {
  const { size: claimed } = fstatSync(descriptor);
  if (claimed > maxBytes) return undefined;
  // A growing file, or one that wrongly reports to be empty (as in /proc), is read to its end.
  const chunks: Buffer[] = [];
  let length = 0;
  let wanted = claimed + 1;
  while (length <= maxBytes) {
    const chunk = Buffer.allocUnsafe(wanted);
    const read = readSync(descriptor, chunk, 0, wanted, null);
    if (read === 0) return Buffer.concat(chunks, length);
    chunks.push(chunk.subarray(0, read));
    length += read;
    // The next read usually finds the end, so a small buffer is enough.
    wanted = Math.min(Math.max(SMALL, length), maxBytes + 1 - length);
  }
  return undefined;
}

/** Joins the chunks of a file. Throws LIMIT_EXCEEDED for more than `maxBytes`, and reads no further. */
export async function joinWithLimit(
  path: string,
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<Buffer> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      const message = `${path} is larger than the limit of ${maxBytes} bytes`;
      throw new MusterError('LIMIT_EXCEEDED', message);
    }
    // The reader may use the buffer again for the next chunk.
    kept.push(Buffer.from(chunk));
  }
  return Buffer.concat(kept);
}
