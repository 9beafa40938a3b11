import { createHash } from 'node:crypto';
import { closeSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { MusterError } from '../../base/errors.ts';
import { toFileError } from './file-errors.ts';
import { openFileInRoots, type OpenFile, type OpenScope } from './open-in-roots.ts';

const readBytes = promisify(read);

const CHUNK_BYTES = 65_536;
/** For a file that is small, or does not say how large it is. */
const SMALL_CHUNK_BYTES = 4_096;

/** Run `use` on an open file and close it after, whatever happens. */
export async function withFile<T>(
  path: string,
  place: OpenScope,
  use: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = openFileInRoots(path, place);
  try {
    return await use(file);
  } catch (thrown) {
    throw toFileError(path, thrown);
  } finally {
    closeSync(file.fd);
  }
}

/** The bytes of an open file from the start, in chunks that are only good until the next one. */
export async function* fileChunks(file: OpenFile, signal: AbortSignal): AsyncGenerator<Buffer> {
  // One byte more than the file, so that its end shows at once.
  const wanted = Number(file.stats.size) + 1;
  const size = Math.min(Math.max(wanted, SMALL_CHUNK_BYTES), CHUNK_BYTES);
  const buffer = Buffer.allocUnsafe(size);
  // A small file is in the page cache or one seek away: a trip to another thread costs more.
  const isSmall = wanted <= CHUNK_BYTES;
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const bytesRead = isSmall
      ? readSync(file.fd, buffer, 0, buffer.length, position)
      : (await readBytes(file.fd, buffer, 0, buffer.length, position)).bytesRead;
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
    // Less than was asked for is the end of a file that says how large it is; those of /proc don't.
    if (isSmall && wanted > 1 && position >= wanted - 1 && bytesRead < buffer.length) return;
  }
}

export interface FullFile {
  readonly bytes: Buffer;
  /** sha256 of the bytes, hex. */
  readonly hash: string;
  readonly file: OpenFile;
}

/** A whole file of at most `maxBytes`; a larger one is LIMIT_EXCEEDED, read no further than that. */
export async function readFullFile(
  path: string,
  place: OpenScope,
  options: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<FullFile> {
  return withFile(path, place, async (file) => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of fileChunks(file, options.signal)) {
      size += chunk.length;
      if (size > options.maxBytes) throw tooLarge(path, options.maxBytes);
      chunks.push(Buffer.from(chunk));
    }
    const bytes = Buffer.concat(chunks);
    return { bytes, hash: hashContent(bytes), file };
  });
}

function tooLarge(path: string, maxBytes: number): MusterError {
  return new MusterError('LIMIT_EXCEEDED', `${path} is larger than the limit of ${maxBytes} bytes`);
}

/** sha256, hex. */
export function hashContent(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}
