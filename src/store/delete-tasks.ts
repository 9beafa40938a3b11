import { setTimeout as sleep } from 'node:timers/promises';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import { visitBlobReferences, removeUnusedBlobs } from './blobs/collect-blobs.ts';
import { storageError } from './files/file-port.ts';
import type { StoreParts } from './store-parts.ts';
import { taskInUseError } from './files/task-files.ts';

const DELETED_SUFFIX = '.deleted';
const MAX_INDEX_TRIES = 200;
const INDEX_RETRY_DELAY_MS = 10;

/**
 * Deletes tasks. A task no longer exists once its log is renamed. If the process is killed after that, the deletion is
 * finished by the next deletion or sweep, or when a task with that id is created.
 */
export async function deleteStoredTasks(
  parts: StoreParts,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  try {
    const finished = finishDeletions(parts);
    const remaining = new Set(ids.filter((id) => !finished.has(id)));
    for (const id of remaining) parts.tasks.checkExists(id);
    const release = lockTasks(parts, remaining);
    try {
      for (const id of remaining) parts.tasks.checkExists(id);
      const blobs = await listReferencedBlobs(parts, remaining);
      await removeLockedTasks(parts, remaining, () => removeUnusedBlobs(parts, blobs, signal));
    } finally {
      release();
    }
  } catch (thrown) {
    throw storageError('delete tasks in', parts.paths.root, thrown);
  }
}

/**
 * Locks all of the tasks and returns the function that releases them. If a task has an owner, throws `CONFLICT` and
 * locks no task.
 */
export function lockTasks({ locks, paths, tasks }: StoreParts, ids: Iterable<string>): () => void {
  const acquired: string[] = [];
  const release = (): void => {
    for (const lock of acquired) locks.release(lock);
  };
  try {
    for (const id of ids) {
      const lock = tasks.lockPath(id);
      const owner = locks.acquire(lock);
      if (owner !== undefined) throw taskInUseError(id, owner.pid);
      acquired.push(lock);
    }
  } catch (thrown) {
    release();
    throw storageError('lock tasks in', paths.tasks, thrown);
  }
  return release;
}

/**
 * Removes tasks. The caller must hold their locks. `removeBlobs` runs when the logs no longer exist under their names.
 */
export async function removeLockedTasks(
  parts: StoreParts,
  ids: ReadonlySet<string>,
  removeBlobs: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { files, paths, tasks, syncQueue } = parts;
  for (const id of ids) files.rename(tasks.logPath(id), tasks.deletedLogPath(id));
  // Without this sync, a power loss could bring back a log whose blobs and output no longer exist.
  if (syncQueue !== undefined) await files.syncDirectory(paths.tasks);
  await removeFromIndex(parts, ids);
  tasks.removeOtherFiles(ids);
  await removeBlobs();
  for (const id of ids) files.unlink(tasks.deletedLogPath(id));
  if (syncQueue === undefined) return;
  for (const path of [paths.tasks, paths.spill, paths.blobs, paths.backups, paths.root]) {
    await files.syncDirectory(path);
  }
}

/** Finishes the deletions that were interrupted. Returns the ids of their tasks. */
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
  for (let tries = 0; tries < MAX_INDEX_TRIES; tries += 1) {
    if (index.remove(ids)) return;
    await sleep(INDEX_RETRY_DELAY_MS);
  }
  const message = `another process keeps ${paths.index} locked: the next deletion will finish this one`;
  throw new MusterError('CONFLICT', message, { retryable: true });
}

async function listReferencedBlobs(
  { files, tasks }: StoreParts,
  ids: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const hashes = new Set<string>();
  for (const id of ids) {
    try {
      await visitBlobReferences(files, tasks.logPath(id), (hash) => {
        hashes.add(hash);
        return 'continue';
      });
    } catch (thrown) {
      throw systemErrorCode(thrown) === undefined
        ? thrown
        : storageError('read', tasks.logPath(id), thrown);
    }
  }
  return hashes;
}
