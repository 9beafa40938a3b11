import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import { listBlobs, removeUnusedBlobs } from './blobs/collect-blobs.ts';
import { finishDeletions, lockTasks, removeLockedTasks } from './delete-tasks.ts';
import { readCreatedEvent } from './log/log-reader.ts';
import { storageError } from './files/storage-error.ts';
import type { StoreParts } from './store-parts.ts';
import {
  isWithinDay,
  readSweepRecord,
  isSweepUnneeded,
  writeSweepRecord,
  type SweepRecord,
} from './sweep-record.ts';
import type { IndexContents } from './index/task-index.ts';
import { taskNames } from './index/list-tasks.ts';
import type { StoreSweepOptions, TaskSummary } from './task-store.ts';
import { getSpillFileTask } from './files/task-files.ts';
import { isId } from '../base/ids.ts';

/** What needs no look at the disk: a process may sweep while it has a thousand tasks at work. */
interface OwnTasks {
  /** The summary of a log that this process owns. */
  own(id: string): TaskSummary | undefined;
}

/**
 * Deletes expired trees. A note of what the last sweep found answers most calls; a look at names, index
 * and times of change comes once a day, and when something has expired. Blobs without a log, which
 * takes reading all logs, are collected once a day.
 */
export async function sweepStore(
  parts: StoreParts,
  options: StoreSweepOptions & OwnTasks,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { files, paths, clock } = parts;
  const now = clock.now();
  try {
    const note = readSweepRecord(files, paths.sweepRecord);
    if (isSweepUnneeded(note, { endedBefore: options.endedBefore, now })) return [];
    finishDeletions(parts);
    const trees = groupByTree(taskAges(parts, options));
    const deleted = await deleteTrees(
      parts,
      selectExpiredTrees(trees, options),
      options.endedBefore,
    );
    removeLeftovers(parts, systemClock.now());
    const isCollected = note !== undefined && isWithinDay(note.collected, now);
    if (!isCollected) await removeUnusedBlobs(parts, listBlobs(parts), signal);
    if (!signal.aborted) {
      const left = trees.find(({ ids }) => ids.some((id) => !deleted.has(id)));
      const collected = isCollected ? note.collected : now;
      const oldest = Math.min(now, left?.lastActive ?? now);
      tryWriteNote(parts, { at: now, oldest, collected });
    }
    return [...deleted];
  } catch (thrown) {
    throw storageError('sweep', paths.root, thrown);
  }
}

function tryWriteNote({ files, paths }: StoreParts, note: SweepRecord): void {
  try {
    writeSweepRecord(files, paths.sweepRecord, note);
  } catch {
    // A disk that is full: without a note the next sweep looks again.
  }
}

function taskAges(parts: StoreParts, { own }: OwnTasks): readonly TaskAge[] {
  const { ids, locked } = taskNames(parts.files, parts.paths.tasks);
  const contents = parts.index.read();
  return ids.map((id) => {
    const owned = own(id);
    if (owned !== undefined) return { id, root: owned.root, lastActive: Number.POSITIVE_INFINITY };
    const known = locked.has(id) ? undefined : contents.ended.get(id);
    if (known?.ended !== undefined && known.ended !== null) {
      return { id, root: known.root, lastActive: known.ended };
    }
    return ageFromLog(parts, id, contents);
  });
}

/** Of a task that the index does not cover. What can't be read does not expire. */
function ageFromLog(parts: StoreParts, id: string, contents: IndexContents): TaskAge {
  const { files, locks, tasks } = parts;
  const path = tasks.logPath(id);
  try {
    const root = contents.ended.get(id)?.root ?? readCreatedEvent(files, path, id)?.spec.root ?? id;
    const isOwned = locks.findLiveOwner(tasks.lockPath(id)) !== undefined;
    const modified = files.stat(path)?.modified;
    return { id, root, lastActive: isOwned ? Number.POSITIVE_INFINITY : (modified ?? 0) };
  } catch (thrown) {
    // Written by a newer Muster, deleted meanwhile, or unreadable: not ours to delete.
    if (thrown instanceof MusterError)
      return { id, root: id, lastActive: Number.POSITIVE_INFINITY };
    throw thrown;
  }
}

async function deleteTrees(
  parts: StoreParts,
  trees: readonly StoredTree[],
  endedBefore: number,
): Promise<ReadonlySet<string>> {
  const held: { readonly tree: StoredTree; readonly release: () => void }[] = [];
  try {
    for (const tree of trees) {
      const release = tryLock(parts, tree.ids);
      if (release !== undefined) held.push({ tree, release });
    }
    if (held.length === 0) return new Set();
    // Whoever has given up a lock has written to the index before, so now it can be trusted.
    const contents = parts.index.read();
    const isExpired = (id: string): boolean => stillExpired(parts, id, contents, endedBefore);
    const ids = held
      .filter(({ tree }) => tree.ids.every(isExpired))
      .flatMap(({ tree }) => tree.ids)
      .filter((id) => parts.files.stat(parts.tasks.logPath(id)) !== undefined);
    await removeLockedTasks(parts, new Set(ids));
    return new Set(ids);
  } finally {
    for (const { release } of held) release();
  }
}

/** Undefined: somebody uses or deletes one of them. */
function tryLock(parts: StoreParts, ids: readonly string[]): (() => void) | undefined {
  try {
    return lockTasks(parts, ids);
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'CONFLICT') return undefined;
    throw thrown;
  }
}

/** Looked at again with the lock held; one that is gone meanwhile holds nothing up. */
function stillExpired(
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

/** When something last happened to a task. */
export interface TaskAge {
  readonly id: string;
  readonly root: string;
  /** Milliseconds since the epoch: its end or its lastActive write; Infinity while somebody has it. */
  readonly lastActive: number;
}

export interface StoredTree {
  readonly ids: readonly string[];
  /** That of its lastActive task. */
  readonly lastActive: number;
}

/** Tasks by tree, the tree that was quiet for longest first. */
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

/** The expired trees, as many as have at most `most` tasks together; the first one in any case. */
export function selectExpiredTrees(
  trees: readonly StoredTree[],
  options: { readonly endedBefore: number; readonly maxTasks: number },
): readonly StoredTree[] {
  const expired: StoredTree[] = [];
  let room = options.maxTasks;
  for (const tree of trees) {
    if (tree.lastActive >= options.endedBefore) break;
    if (expired.length > 0 && tree.ids.length > room) break;
    room -= tree.ids.length;
    expired.push(tree);
    if (room <= 0) break;
  }
  return expired;
}

const DAY_MS = 86_400_000;
const DRAFT_SUFFIX = '.new';

/** Removes what killed processes left: old drafts, files without a log, words about tasks that are gone. */
function removeLeftovers(parts: StoreParts, now: number): void {
  parts.locks.removeDeadOwners();
  const { root, tasks, spill, blobs, backups: former, owners } = parts.paths;
  for (const directory of [root, tasks, spill, blobs, former, owners])
    removeDrafts(parts, directory, now);
  const orphans = new Set([...withoutLog(parts)].filter((id) => removeOrphan(parts, id)));
  const known = new Set(taskNames(parts.files, tasks).ids);
  for (const id of parts.index.read().ended.keys()) if (!known.has(id)) orphans.add(id);
  // When somebody else has the index just now, the next sweep does it.
  parts.index.remove(orphans);
}

function removeDrafts({ files }: StoreParts, directory: string, now: number): void {
  for (const name of files.list(directory)) {
    // A link to a lock is as old as its owner, and lives for a moment.
    if (!name.endsWith(DRAFT_SUFFIX) || name.includes('.lock.')) continue;
    const path = join(directory, name);
    const modified = files.stat(path)?.modified;
    if (modified !== undefined && now - modified > DAY_MS) files.unlink(path);
  }
}

/** Ids of which there is something, but no log. */
function withoutLog({ files, paths }: StoreParts): ReadonlySet<string> {
  const ids = new Set<string>();
  // Spill files first: a log that came after they were listed must not make them orphans.
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

/** With the lock held, so that nobody is about to make the log; false: somebody has it. */
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
