import { fstatSync, readSync } from 'node:fs';
import { MusterError } from '../../base/errors.ts';

/** The minimum buffer size for further reads, in bytes. */
const MIN_READ_BYTES = 4096;

/**
 * Reads an open file. Returns undefined if the file has more than `maxBytes` bytes, even if it reports a smaller
 * size. Reads at most one byte more than the limit.
 */
export function readWithLimit(descriptor: number, maxBytes: number): Buffer | undefined {
  const { size: reportedSize } = fstatSync(descriptor);
  if (reportedSize > maxBytes) return undefined;
  // The reported size may be too small: the file may be growing, and files in /proc report that they are empty.
  const chunks: Buffer[] = [];
  let length = 0;
  let wanted = reportedSize + 1;
  while (length <= maxBytes) {
    const chunk = Buffer.allocUnsafe(wanted);
    const read = readSync(descriptor, chunk, 0, wanted, null);
    if (read === 0) return Buffer.concat(chunks, length);
    chunks.push(chunk.subarray(0, read));
    length += read;
    // The next read usually finds the end, so a small buffer is enough.
    wanted = Math.min(Math.max(MIN_READ_BYTES, length), maxBytes + 1 - length);
  }
  return undefined;
}

/** Joins the chunks of a file. Stops reading and throws LIMIT_EXCEEDED after more than `maxBytes`. */
export async function joinWithLimit(
  path: string,
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<Buffer> {
  const copies: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      const message = `${path} is larger than the limit of ${maxBytes} bytes`;
      throw new MusterError('LIMIT_EXCEEDED', message);
    }
    // The reader may use the buffer again for the next chunk.
    copies.push(Buffer.from(chunk));
  }
  return Buffer.concat(copies);
}
