import { setTimeout as sleep } from 'node:timers/promises';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import { removeUnusedBlobs } from './blobs/collect-blobs.ts';
import { visitBlobReferences } from './blobs/blob-references.ts';
import { storageError } from './files/storage-error.ts';
import type { StoreParts } from './store-parts.ts';
import { taskInUseError } from './files/task-ids.ts';

const DELETED_SUFFIX = '.deleted';
const INDEX_TRIES = 200;
const INDEX_WAIT_MS = 10;

/**
 * Deletes tasks. Each is gone at once, when its log loses its name; whatever is killed from there on
 * is finished by the next deletion, sweep, or task of that id.
 */
export async function deleteStoredTasks(
  parts: StoreParts,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  try {
    const finished = finishDeletions(parts);
    const wanted = new Set(ids.filter((id) => !finished.has(id)));
    for (const id of wanted) parts.tasks.checkExists(id);
    const release = lockTasks(parts, wanted);
    try {
      for (const id of wanted) parts.tasks.checkExists(id);
      const blobs = await blobsOf(parts, wanted);
      await removeLockedTasks(parts, wanted, () => removeUnusedBlobs(parts, blobs, signal));
    } finally {
      release();
    }
  } catch (thrown) {
    throw storageError('delete tasks in', parts.paths.root, thrown);
  }
}

/**
 * Locks all of them, or throws MusterError and locks none: `CONFLICT` where one has an owner. Returns what gives
 * the locks back.
 */
export function lockTasks({ locks, paths, tasks }: StoreParts, ids: Iterable<string>): () => void {
  const held: string[] = [];
  const release = (): void => {
    for (const lock of held) locks.release(lock);
  };
  try {
    for (const id of ids) {
      const lock = tasks.lockPath(id);
      const owner = locks.acquire(lock);
      if (owner !== undefined) throw taskInUseError(id, owner.pid);
      held.push(lock);
    }
  } catch (thrown) {
    release();
    throw storageError('lock tasks in', paths.tasks, thrown);
  }
  return release;
}

/** Removes tasks whose locks the caller has; `tidy` runs when no log holds them any more. */
export async function removeLockedTasks(
  parts: StoreParts,
  ids: ReadonlySet<string>,
  tidy: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { files, paths, tasks, syncQueue: syncs } = parts;
  for (const id of ids) files.rename(tasks.logPath(id), tasks.deletedLogPath(id));
  // Else a power loss could bring back a log whose blobs and output are gone.
  if (syncs !== undefined) await files.syncDirectory(paths.tasks);
  await removeFromIndex(parts, ids);
  tasks.removeOtherFiles(ids);
  await tidy();
  for (const id of ids) files.unlink(tasks.deletedLogPath(id));
  if (syncs === undefined) return;
  for (const path of [paths.tasks, paths.spill, paths.blobs, paths.backups, paths.root]) {
    await files.syncDirectory(path);
  }
}

/** Ends the deletions that were cut short; returns their ids. */
export function finishDeletions(parts: StoreParts): ReadonlySet<string> {
  const { files, paths, tasks, locks, index } = parts;
  const finished = new Set<string>();
  for (const name of files.list(paths.tasks)) {
    const id = name.slice(0, -DELETED_SUFFIX.length);
    if (!name.endsWith(DELETED_SUFFIX) || !isId(id)) continue;
    if (locks.acquire(tasks.lockPath(id)) !== undefined) continue;
    try {
      if (!index.remove(new Set([id]))) continue;
      tasks.finishDeletion(id);
      if (files.stat(tasks.logPath(id)) === undefined) finished.add(id);
    } finally {
      locks.release(tasks.lockPath(id));
    }
  }
  return finished;
}

async function removeFromIndex({ index, paths }: StoreParts, ids: ReadonlySet<string>) {
  for (let tries = 0; tries < INDEX_TRIES; tries += 1) {
    if (index.remove(ids)) return;
    await sleep(INDEX_WAIT_MS);
  }
  throw new MusterError(
    'CONFLICT',
    `another process does not let go of ${paths.index}: the deletion is finished when it does, by the next one`,
    { retryable: true },
  );
}

async function blobsOf(
  { files, tasks }: StoreParts,
  ids: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const hashes = new Set<string>();
  for (const id of ids) {
    try {
      await visitBlobReferences(files, tasks.logPath(id), (hash) => {
        hashes.add(hash);
        return 'go on';
      });
    } catch (thrown) {
      throw systemErrorCode(thrown) === undefined
        ? thrown
        : storageError('read', tasks.logPath(id), thrown);
    }
  }
  return hashes;
}
