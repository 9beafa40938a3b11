import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { visitBlobReferences } from './blob-references.ts';
import { isBlobHash, type BlobDirectory } from './blob-directory.ts';
import type { StoreParts } from '../store-parts.ts';
import { taskNames } from '../index/list-tasks.ts';

/** Clocks and file systems may differ by that; milliseconds. */
const SLACK_MS = 3_600_000;
const TAKEN_AWAY = '.gone';

/**
 * Removes those of `candidates` that no log names and nobody is about to name: texts of logs, and what
 * files held before they were changed.
 *
 * A blob is put first and named after, and the process between the two may be any. So: each store is
 * known to live before it puts its first blob (BlobDir), each put makes a blob young, and a blob stays
 * that was put since an hour before the oldest other living store came, or that this store has put
 * itself. What stays so goes with a later sweep. The last look at a blob's age is taken when it has
 * lost its name: a put from then on writes it anew.
 */
export async function removeUnusedBlobs(
  parts: StoreParts,
  candidates: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const directories = [parts.blobs, parts.backups];
  const unnamed = new Set(
    [...candidates].filter((hash) => directories.some((blobs) => isRemovable(parts, blobs, hash))),
  );
  // Newest logs would be the likeliest to name them, but ids say nothing of age: any order will do.
  for (const id of unnamed.size === 0 ? [] : taskNames(parts.files, parts.paths.tasks).ids) {
    if (signal.aborted) return;
    await excludeReferencedBlobs(parts, id, unnamed);
    if (unnamed.size === 0) return;
  }
  for (const hash of unnamed) {
    for (const blobs of directories)
      if (isRemovable(parts, blobs, hash)) removeBlob(parts, blobs, hash);
  }
}

/** All of both, after those were given back their names whose removal was cut short. */
export function listBlobs({ files, blobs, backups: former }: StoreParts): ReadonlySet<string> {
  const hashes = new Set<string>();
  for (const { directory } of [blobs, former]) {
    for (const name of files.list(directory)) {
      const hash = name.endsWith(TAKEN_AWAY) ? name.slice(0, -TAKEN_AWAY.length) : name;
      if (!isBlobHash(hash)) continue;
      if (hash !== name) files.rename(join(directory, name), join(directory, hash));
      hashes.add(hash);
    }
  }
  return hashes;
}

/** Takes out of `unnamed` what the log names. */
async function excludeReferencedBlobs(
  parts: StoreParts,
  id: string,
  unnamed: Set<string>,
): Promise<void> {
  try {
    await visitBlobReferences(parts.files, parts.tasks.logPath(id), (hash) => {
      unnamed.delete(hash);
      return unnamed.size === 0 ? 'stop' : 'go on';
    });
  } catch (thrown) {
    // Deleted meanwhile: it names nothing. One that can't be read could name any of them.
    if (systemErrorCode(thrown) !== 'ENOENT') unnamed.clear();
  }
}

function isRemovable({ files, locks }: StoreParts, blobs: BlobDirectory, hash: string): boolean {
  const modified = files.stat(blobs.path(hash))?.modified;
  return (
    modified !== undefined && !blobs.isInUse(hash) && modified < locks.findOldestRival() - SLACK_MS
  );
}

function removeBlob({ files, locks }: StoreParts, blobs: BlobDirectory, hash: string): void {
  if (blobs.isInUse(hash)) return;
  const path = blobs.path(hash);
  const aside = `${path}${TAKEN_AWAY}`;
  try {
    files.rename(path, aside);
  } catch (thrown) {
    // Another process removed it first.
    if (systemErrorCode(thrown) === 'ENOENT') return;
    throw thrown;
  }
  const modified = files.stat(aside)?.modified ?? 0;
  if (modified < locks.findOldestRival() - SLACK_MS) files.unlink(aside);
  else files.rename(aside, path);
}
