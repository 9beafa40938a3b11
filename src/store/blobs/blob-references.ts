import type { FilePort } from '../files/file-port.ts';
import { CHUNK_BYTES } from '../log/line-reader.ts';

/**
 * How a log names a blob: by a string that is nothing but its hash (`TaskSpec.prefix`), or by the mark
 * of a large string. A hash inside a longer text is none: its quotes are escaped there.
 */
const REFERENCE = /(?:"|\\u0010blob:)([0-9a-f]{64})"/g;
/** The longest reference: carried over, so that none is cut in two. */
const LONGEST = 80;

/** The hashes that a piece of a log names. */
export function findBlobReferences(text: string): Iterable<string> {
  return Array.from(text.matchAll(REFERENCE), ([, hash]) => hash ?? '');
}

/** Calls `visit` with each hash that a log names, some twice, until it answers `stop`. */
export async function visitBlobReferences(
  files: FilePort,
  path: string,
  visit: (hash: string) => 'go on' | 'stop',
): Promise<void> {
  const fd = files.openRead(path);
  try {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, files.statOpen(fd).size + 1));
    let carried = '';
    for (let position = 0; ;) {
      const count = files.readAt(fd, chunk, position);
      if (count === 0) return;
      position += count;
      const text = carried + chunk.toString('latin1', 0, count);
      for (const hash of findBlobReferences(text)) if (visit(hash) === 'stop') return;
      carried = text.slice(-LONGEST);
      await new Promise(setImmediate);
    }
  } finally {
    files.close(fd);
  }
}
