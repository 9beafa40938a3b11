import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { listBlobs, removeUnusedBlobs } from './blobs/collect-blobs.ts';
import { finishDeletions, lockTasks, removeLockedTasks } from './delete-tasks.ts';
import { storageError, readFileIfExists, writeViaDraft, type FilePort } from './files/file-port.ts';
import { getSpillFileTask } from './files/task-files.ts';
import type { IndexContents } from './index/task-index.ts';
import { readCreatedEvent } from './log/log-reader.ts';
import type { StoreParts } from './store-parts.ts';
import type { StoreSweepOptions, TaskSummary } from './task-store.ts';

const DAY_MS = 86_400_000;
const DRAFT_SUFFIX = '.new';

/** A task, and the time of its last activity. */
export interface TaskAge {
  readonly id: string;
  readonly root: string;
  /**
   * The time of the end or of the last write of the task, in milliseconds since the epoch; Infinity while a process
   * owns the task.
   */
  readonly lastActive: number;
}

export interface StoredTree {
  readonly ids: readonly string[];
  /** The time of the latest activity of any task in the tree. Milliseconds since the epoch. */
  readonly lastActive: number;
}

interface SweepOptions extends StoreSweepOptions {
  /**
   * Returns the summary of a log that this process owns, so that the log need not be read. Undefined for other logs.
   */
  getOwnedSummary(id: string): TaskSummary | undefined;
}

/**
 * Deletes expired trees. Most calls do nothing, because the record of the last sweep shows that nothing has expired.
 * Otherwise, and at least once a day, names, index and modification times are checked. Unused blobs are removed only
 * once a day, because this requires reading all logs.
 */
export async function sweepStore(
  parts: StoreParts,
  options: SweepOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { files, paths, clock } = parts;
  const now = clock.now();
  try {
    const record = readSweepRecord(files, paths.sweepRecord);
    if (isSweepUnneeded(record, { endedBefore: options.endedBefore, now })) return [];
    finishDeletions(parts);
    const trees = groupByTree(listTaskAges(parts, options));
    const expired = selectExpiredTrees(trees, options);
    const deleted = await deleteTrees(parts, expired, options.endedBefore);
    removeLeftovers(parts, systemClock.now());
    const areBlobsCollected = record !== undefined && isWithinDay(record.collected, now);
    if (!areBlobsCollected) await removeUnusedBlobs(parts, listBlobs(parts), signal);
    if (!signal.aborted) {
      const remaining = trees.find(({ ids }) => ids.some((id) => !deleted.has(id)));
      const collected = areBlobsCollected ? record.collected : now;
      const oldest = Math.min(now, remaining?.lastActive ?? now);
      tryToWriteSweepRecord(parts, { at: now, oldest, collected });
    }
    return [...deleted];
  } catch (thrown) {
    throw storageError('sweep', paths.root, thrown);
  }
}

/** Groups tasks by their tree. The tree that has been inactive for the longest time comes first. */
export function groupByTree(ages: readonly TaskAge[]): readonly StoredTree[] {
  const trees = new Map<string, { ids: string[]; lastActive: number }>();
  for (const { id, root, lastActive } of ages) {
    const tree = trees.get(root);
    if (tree === undefined) {
      trees.set(root, { ids: [id], lastActive });
    } else {
      tree.ids.push(id);
      tree.lastActive = Math.max(tree.lastActive, lastActive);
    }
  }
  return [...trees.values()].toSorted((a, b) => a.lastActive - b.lastActive);
}

/**
 * Selects expired trees with at most `maxTasks` tasks in total. The first expired tree is selected even if it is
 * larger.
 */
export function selectExpiredTrees(
  trees: readonly StoredTree[],
  options: { readonly endedBefore: number; readonly maxTasks: number },
): readonly StoredTree[] {
  const expired: StoredTree[] = [];
  let remaining = options.maxTasks;
  for (const tree of trees) {
    if (tree.lastActive >= options.endedBefore) break;
    if (expired.length > 0 && tree.ids.length > remaining) break;
    remaining -= tree.ids.length;
    expired.push(tree);
    if (remaining <= 0) break;
  }
  return expired;
}

function tryToWriteSweepRecord({ files, paths }: StoreParts, record: SweepRecord): void {
  try {
    writeSweepRecord(files, paths.sweepRecord, record);
  } catch {
    // The disk may be full. Without a new record, the next sweep checks everything again.
  }
}

function listTaskAges(parts: StoreParts, options: SweepOptions): readonly TaskAge[] {
  const { ids, locked } = parts.tasks.listNames();
  const contents = parts.index.read();
  return ids.map((id) => {
    const owned = options.getOwnedSummary(id);
    if (owned !== undefined) return { id, root: owned.root, lastActive: Number.POSITIVE_INFINITY };
    const known = locked.has(id) ? undefined : contents.ended.get(id);
    if (known?.ended !== undefined && known.ended !== null) {
      return { id, root: known.root, lastActive: known.ended };
    }
    return readAgeFromLog(parts, id, contents);
  });
}

/** Determines the age of a task that the index does not cover. A task that cannot be read does not expire. */
function readAgeFromLog(parts: StoreParts, id: string, contents: IndexContents): TaskAge {
  const { files, locks, tasks } = parts;
  const path = tasks.logPath(id);
  try {
    const root = contents.ended.get(id)?.root ?? readCreatedEvent(files, path, id)?.spec.root ?? id;
    const isOwned = locks.findLiveOwner(tasks.lockPath(id)) !== undefined;
    const modified = files.stat(path)?.modified;
    return { id, root, lastActive: isOwned ? Number.POSITIVE_INFINITY : (modified ?? 0) };
  } catch (thrown) {
    // The log was written by a newer Muster, was deleted meanwhile, or is unreadable, so do not delete the task.
    if (thrown instanceof MusterError) {
      return { id, root: id, lastActive: Number.POSITIVE_INFINITY };
    }
    throw thrown;
  }
}

async function deleteTrees(
  parts: StoreParts,
  trees: readonly StoredTree[],
  endedBefore: number,
): Promise<ReadonlySet<string>> {
  const locked: { readonly tree: StoredTree; readonly release: () => void }[] = [];
  try {
    for (const tree of trees) {
      const release = tryToLock(parts, tree.ids);
      if (release !== undefined) locked.push({ tree, release });
    }
    if (locked.length === 0) return new Set();
    // An owner writes to the index before it releases its lock, so the index is up to date for the locked tasks.
    const contents = parts.index.read();
    const isExpired = (id: string): boolean => isStillExpired(parts, id, contents, endedBefore);
    const ids = locked
      .filter(({ tree }) => tree.ids.every(isExpired))
      .flatMap(({ tree }) => tree.ids)
      .filter((id) => parts.files.stat(parts.tasks.logPath(id)) !== undefined);
    await removeLockedTasks(parts, new Set(ids));
    return new Set(ids);
  } finally {
    for (const { release } of locked) release();
  }
}

/** Locks tasks, and returns the function that releases them; undefined if another process uses one of the tasks. */
function tryToLock(parts: StoreParts, ids: readonly string[]): (() => void) | undefined {
  try {
    return lockTasks(parts, ids);
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'CONFLICT') return undefined;
    throw thrown;
  }
}

/** Checks a task again while its lock is held. A task that was deleted meanwhile counts as expired. */
function isStillExpired(
  { files, tasks }: StoreParts,
  id: string,
  contents: IndexContents,
  endedBefore: number,
): boolean {
  const ended = contents.ended.get(id)?.ended;
  if (ended !== undefined && ended !== null) return ended < endedBefore;
  const modified = files.stat(tasks.logPath(id))?.modified;
  return modified === undefined || modified < endedBefore;
}

/** Removes the leftovers of killed processes: old drafts, files without a log, and index lines of deleted tasks. */
function removeLeftovers(parts: StoreParts, now: number): void {
  parts.locks.removeDeadOwners();
  const { root, tasks, spill, blobs, backups, owners } = parts.paths;
  for (const directory of [root, tasks, spill, blobs, backups, owners]) {
    removeDrafts(parts, directory, now);
  }
  const deleted = new Set([...listIdsWithoutLog(parts)].filter((id) => removeOrphan(parts, id)));
  const existing = new Set(parts.tasks.listNames().ids);
  for (const id of parts.index.read().ended.keys()) if (!existing.has(id)) deleted.add(id);
  // If another process is rewriting the index at this moment, the next sweep removes the lines.
  parts.index.remove(deleted);
}

function removeDrafts({ files }: StoreParts, directory: string, now: number): void {
  for (const name of files.list(directory)) {
    // Skip links to locks: they exist only for a moment, and their modification time is that of their owner's file.
    if (!name.endsWith(DRAFT_SUFFIX) || name.includes('.lock.')) continue;
    const path = join(directory, name);
    const modified = files.stat(path)?.modified;
    if (modified !== undefined && now - modified > DAY_MS) files.unlink(path);
  }
}

/** Lists the ids that have files but no log. */
function listIdsWithoutLog({ files, paths }: StoreParts): ReadonlySet<string> {
  const ids = new Set<string>();
  // List spill files before logs. Otherwise the spill files of a task created in between would count as orphans.
  for (const name of files.list(paths.spill)) ids.add(getSpillFileTask(name));
  const logs: string[] = [];
  for (const name of files.list(paths.tasks)) {
    const [id = '', kind] = name.split('.');
    if (kind === 'jsonl' && name === `${id}.jsonl`) logs.push(id);
    else if (!name.endsWith(DRAFT_SUFFIX)) ids.add(id);
  }
  for (const id of logs) ids.delete(id);
  return new Set([...ids].filter((id) => isId(id)));
}

/**
 * Removes the files of a task without a log. Holds the lock of the task, so that nobody creates the log meanwhile.
 * Returns whether the files were removed.
 */
function removeOrphan({ files, locks, tasks }: StoreParts, id: string): boolean {
  const lock = tasks.lockPath(id);
  if (locks.acquire(lock) !== undefined) return false;
  try {
    const isOrphan = files.stat(tasks.logPath(id)) === undefined;
    if (isOrphan) tasks.removeOtherFiles(new Set([id]));
    return isOrphan;
  } finally {
    locks.release(lock);
  }
}

const RECORD_VERSION = 1;

/**
 * The result of the last sweep, from which the next sweep sees whether there is anything to do. Times are in
 * milliseconds since the epoch.
 */
interface SweepRecord {
  /** The time of the sweep. */
  readonly at: number;
  /** The last activity of the oldest tree that was not deleted. No tree expires while the expiry limit is not later. */
  readonly oldest: number;
  /** The time at which unused blobs were last removed. */
  readonly collected: number;
}

/** Checks whether the record shows that a sweep would find nothing to do. */
function isSweepUnneeded(
  record: SweepRecord | undefined,
  options: { readonly endedBefore: number; readonly now: number },
): boolean {
  return (
    record !== undefined &&
    isWithinDay(record.at, options.now) &&
    options.endedBefore <= record.oldest
  );
}

/** Checks whether `at` is less than a day ago. A time in the future is not, because the clock was set back. */
function isWithinDay(at: number, now: number): boolean {
  return at <= now && now - at < DAY_MS;
}

/** Reads the record; undefined if it does not exist or cannot be used. */
function readSweepRecord(files: FilePort, path: string): SweepRecord | undefined {
  const value = parseJsonLine(readFileIfExists(files, path)?.toString('utf8') ?? '');
  if (!isJsonObject(value) || value['v'] !== RECORD_VERSION) return undefined;
  const { at, oldest, collected } = value;
  const isValid =
    typeof at === 'number' && typeof oldest === 'number' && typeof collected === 'number';
  return isValid ? { at, oldest, collected } : undefined;
}

function writeSweepRecord(files: FilePort, path: string, record: SweepRecord): void {
  writeViaDraft(files, path, Buffer.from(JSON.stringify({ v: RECORD_VERSION, ...record })));
}
