import { createHash } from 'node:crypto';
import { closeSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { toFileError } from './file-errors.ts';
import { openFileInRoots, type OpenFile, type OpenScope } from './open-in-roots.ts';
import { joinWithLimit } from './read-at-most.ts';

const readBytes = promisify(read);

const CHUNK_BYTES = 65_536;
/** The chunk size for a small file, or one that does not report its size. */
const SMALL_CHUNK_BYTES = 4_096;

/** Opens a file, calls `use` with it, and closes the file afterwards in any case. */
export async function withFile<T>(
  path: string,
  scope: OpenScope,
  use: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = openFileInRoots(path, scope);
  try {
    return await use(file);
  } catch (thrown) {
    throw toFileError(path, thrown);
  } finally {
    closeSync(file.fd);
  }
}

/** Yields the bytes of an open file in chunks. A chunk is valid only until the next chunk is requested. */
export async function* fileChunks(file: OpenFile, signal: AbortSignal): AsyncGenerator<Buffer> {
  if (file.unsaved !== undefined) {
    if (file.unsaved.length > 0) yield file.unsaved;
    return;
  }
  // The buffer has one byte more than the file, so that one read finds the end.
  const wanted = Number(file.stats.size) + 1;
  const size = Math.min(Math.max(wanted, SMALL_CHUNK_BYTES), CHUNK_BYTES);
  const buffer = Buffer.allocUnsafe(size);
  // A small file is read synchronously, which costs less than the use of another thread.
  const isSmall = wanted <= CHUNK_BYTES;
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const bytesRead = isSmall
      ? readSync(file.fd, buffer, 0, buffer.length, position)
      : (await readBytes(file.fd, buffer, 0, buffer.length, position)).bytesRead;
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
    // A short read is the end of a file that reports its size. Files of /proc report none.
    if (isSmall && wanted > 1 && position >= wanted - 1 && bytesRead < buffer.length) return;
  }
}

/** The full content of a file. */
export interface FullFile {
  readonly bytes: Buffer;
  /** The SHA-256 of the bytes, in hex. */
  readonly hash: string;
  readonly file: OpenFile;
}

/** Reads a file. Stops reading and throws LIMIT_EXCEEDED after more than `maxBytes`. */
export async function readFullFile(
  path: string,
  scope: OpenScope,
  options: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<FullFile> {
  return withFile(path, scope, async (file) => {
    const chunks = fileChunks(file, options.signal);
    const bytes = await joinWithLimit(path, chunks, options.maxBytes);
    return { bytes, hash: hashContent(bytes), file };
  });
}

/** Computes the SHA-256 of a content, in hex. */
export function hashContent(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}
