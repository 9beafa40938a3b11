import type { FilePort } from '../files/file-port.ts';
import { CHUNK_BYTES } from '../log/line-reader.ts';

/**
 * A reference to a blob in a log: a string that consists of its hash (`TaskSpec.prefix`), or the mark of a large
 * string. A hash inside a longer text does not match, because the quotes of that text are escaped.
 */
const REFERENCE = /(?:"|\\u0010blob:)([0-9a-f]{64})"/g;
/** Characters that are carried over to the next chunk, so that no reference is cut in two. */
const MAX_REFERENCE_LENGTH = 80;

/** Finds the hashes of the blobs that a piece of a log refers to. */
export function findBlobReferences(text: string): Iterable<string> {
  return Array.from(text.matchAll(REFERENCE), ([, hash]) => hash ?? '');
}

/** Calls `visit` with each hash that a log refers to, with some of them twice, until it returns `stop`. */
export async function visitBlobReferences(
  files: FilePort,
  path: string,
  visit: (hash: string) => 'continue' | 'stop',
): Promise<void> {
  const fd = files.openRead(path);
  try {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, files.statOpen(fd).size + 1));
    let carriedOver = '';
    for (let position = 0; ;) {
      const count = files.readAt(fd, chunk, position);
      if (count === 0) return;
      position += count;
      const text = carriedOver + chunk.toString('latin1', 0, count);
      for (const hash of findBlobReferences(text)) if (visit(hash) === 'stop') return;
      carriedOver = text.slice(-MAX_REFERENCE_LENGTH);
      await new Promise(setImmediate);
    }
  } finally {
    files.close(fd);
  }
}
