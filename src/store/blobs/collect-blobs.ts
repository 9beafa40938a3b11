import { join } from 'node:path';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { systemErrorCode } from '../../base/errors.ts';
import type { FilePort } from '../files/file-port.ts';
import type { TaskFiles } from '../files/task-files.ts';
import type { OwnerLocks } from '../locks/owner-locks.ts';
import { CHUNK_BYTES } from '../log/line-reader.ts';
import { isBlobHash, type BlobDirectory } from './blob-directory.ts';

/** The maximum expected difference between clocks, and between time stamps of file systems. */
const CLOCK_SLACK_MS = 3_600_000;
/** The suffix of the name of a blob while the blob is being removed. */
const REMOVED_SUFFIX = '.gone';

interface CollectionParts {
  readonly files: FilePort;
  readonly locks: OwnerLocks;
  readonly tasks: TaskFiles;
  readonly blobs: BlobDirectory;
  readonly backups: BlobDirectory;
}

/**
 * Removes those `candidates` that no log refers to and that no process is about to refer to.
 *
 * Any process may have put a blob and not yet written its hash to a log. Therefore each store registers before it puts
 * its first blob, and each put sets the modification time of the blob. A blob is kept if this store has put it, or if
 * its modification time is less than an hour before the time at which the oldest other living store registered, or
 * later. A later sweep removes the blobs that are kept now. The modification time is checked once more after the blob
 * was renamed for removal: a put after the rename writes the blob again.
 */
export async function removeUnusedBlobs(
  parts: CollectionParts,
  candidates: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const directories = [parts.blobs, parts.backups];
  const unreferenced = new Set(
    [...candidates].filter((hash) => directories.some((blobs) => isRemovable(parts, blobs, hash))),
  );
  for (const id of unreferenced.size === 0 ? [] : parts.tasks.listNames().ids) {
    if (signal.aborted) return;
    await excludeReferencedBlobs(parts, id, unreferenced);
    if (unreferenced.size === 0) return;
  }
  for (const hash of unreferenced) {
    for (const blobs of directories) {
      if (isRemovable(parts, blobs, hash)) removeBlob(parts, blobs, hash);
    }
  }
}

/** Lists the hashes of all blobs and backups, and restores the names of blobs whose removal was interrupted. */
export function listBlobs({ files, blobs, backups }: CollectionParts): ReadonlySet<string> {
  const hashes = new Set<string>();
  for (const { directory } of [blobs, backups]) {
    for (const name of files.list(directory)) {
      const hash = name.endsWith(REMOVED_SUFFIX) ? name.slice(0, -REMOVED_SUFFIX.length) : name;
      if (!isBlobHash(hash)) continue;
      if (hash !== name) files.rename(join(directory, name), join(directory, hash));
      hashes.add(hash);
    }
  }
  return hashes;
}

/** Deletes from `unreferenced` the hashes that the log of a task refers to. */
async function excludeReferencedBlobs(
  parts: CollectionParts,
  id: string,
  unreferenced: Set<string>,
): Promise<void> {
  try {
    await visitBlobReferences(parts.files, parts.tasks.logPath(id), (hash) => {
      unreferenced.delete(hash);
      return unreferenced.size === 0 ? 'stop' : 'continue';
    });
  } catch (thrown) {
    // A log that was deleted meanwhile refers to no blob. A log that cannot be read may refer to any blob.
    if (systemErrorCode(thrown) !== 'ENOENT') unreferenced.clear();
  }
}

function isRemovable(parts: CollectionParts, blobs: BlobDirectory, hash: string): boolean {
  const { files, locks } = parts;
  const modified = files.stat(blobs.path(hash))?.modified;
  return (
    modified !== undefined &&
    !blobs.isInUse(hash) &&
    modified < locks.findOldestOtherRegistration() - CLOCK_SLACK_MS
  );
}

function removeBlob({ files, locks }: CollectionParts, blobs: BlobDirectory, hash: string): void {
  if (blobs.isInUse(hash)) return;
  const path = blobs.path(hash);
  const removed = `${path}${REMOVED_SUFFIX}`;
  try {
    files.rename(path, removed);
  } catch (thrown) {
    // Another process removed it first.
    if (systemErrorCode(thrown) === 'ENOENT') return;
    throw thrown;
  }
  const modified = files.stat(removed)?.modified ?? 0;
  if (modified < locks.findOldestOtherRegistration() - CLOCK_SLACK_MS) files.unlink(removed);
  else files.rename(removed, path);
}

/**
 * Matches a reference to a blob in a log: a string that consists of a hash (`TaskSpec.prefix`), or the reference that
 * replaces a large string. A hash inside a longer text does not match, because the quotes of that text are escaped.
 */
const REFERENCE = /(?:"|\\u0010blob:)([0-9a-f]{64})"/g;
/** The number of characters that are carried over to the next chunk, so that no reference is cut in two. */
const MAX_REFERENCE_LENGTH = 80;

/** Finds the hashes of the blobs that a piece of a log refers to. */
export function findBlobReferences(text: string): Iterable<string> {
  return Array.from(text.matchAll(REFERENCE), ([, hash]) => hash ?? '');
}

/** Calls `visit` with each hash that a log refers to, until `visit` returns `stop`. May visit a hash more than once. */
export async function visitBlobReferences(
  files: FilePort,
  path: string,
  visit: (hash: string) => 'continue' | 'stop',
): Promise<void> {
  const fd = files.openRead(path);
  using _close = atScopeEnd(() => files.close(fd));
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
}
