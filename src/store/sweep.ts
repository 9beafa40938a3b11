import { systemClock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import { allBlobs, collectBlobs } from './blobs/collect-blobs.ts';
import { finishDeletions, lockTasks, removeLocked } from './delete-tasks.ts';
import { expiredTrees, treesOf, type TaskAge, type Tree } from './expired-trees.ts';
import { createdEvent } from './log/log-reader.ts';
import { storageError } from './files/storage-error.ts';
import type { StoreParts } from './store-parts.ts';
import { removeLeftovers } from './leftovers.ts';
import { isOfToday, readNote, saysNothingToDo, writeNote, type SweepNote } from './sweep-record.ts';
import type { IndexContents } from './index/task-index.ts';
import { taskNames } from './index/list-tasks.ts';
import type { SweepOptions, TaskSummary } from './task-store.ts';

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
  options: SweepOptions & OwnTasks,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { files, paths, clock } = parts;
  const now = clock.now();
  try {
    const note = readNote(files, paths.swept);
    if (saysNothingToDo(note, { endedBefore: options.endedBefore, now })) return [];
    finishDeletions(parts);
    const trees = treesOf(taskAges(parts, options));
    const deleted = await deleteTrees(parts, expiredTrees(trees, options), options.endedBefore);
    removeLeftovers(parts, systemClock.now());
    const isCollected = note !== undefined && isOfToday(note.collected, now);
    if (!isCollected) await collectBlobs(parts, allBlobs(parts), signal);
    if (!signal.aborted) {
      const left = trees.find(({ ids }) => ids.some((id) => !deleted.has(id)));
      const collected = isCollected ? note.collected : now;
      const oldest = Math.min(now, left?.newest ?? now);
      tryWriteNote(parts, { at: now, oldest, collected });
    }
    return [...deleted];
  } catch (thrown) {
    throw storageError('sweep', paths.root, thrown);
  }
}

function tryWriteNote({ files, paths }: StoreParts, note: SweepNote): void {
  try {
    writeNote(files, paths.swept, note);
  } catch {
    // A disk that is full: without a note the next sweep looks again.
  }
}

function taskAges(parts: StoreParts, { own }: OwnTasks): readonly TaskAge[] {
  const { ids, locked } = taskNames(parts.files, parts.paths.tasks);
  const contents = parts.index.read();
  return ids.map((id) => {
    const owned = own(id);
    if (owned !== undefined) return { id, root: owned.root, newest: Number.POSITIVE_INFINITY };
    const known = locked.has(id) ? undefined : contents.ended.get(id);
    if (known?.ended !== undefined && known.ended !== null) {
      return { id, root: known.root, newest: known.ended };
    }
    return ageFromLog(parts, id, contents);
  });
}

/** Of a task that the index does not cover. What can't be read does not expire. */
function ageFromLog(parts: StoreParts, id: string, contents: IndexContents): TaskAge {
  const { files, locks, tasks } = parts;
  const path = tasks.log(id);
  try {
    const root = contents.ended.get(id)?.root ?? createdEvent(files, path, id)?.spec.root ?? id;
    const isOwned = locks.liveOwner(tasks.lock(id)) !== undefined;
    const modified = files.stat(path)?.modified;
    return { id, root, newest: isOwned ? Number.POSITIVE_INFINITY : (modified ?? 0) };
  } catch (thrown) {
    // Written by a newer Muster, deleted meanwhile, or unreadable: not ours to delete.
    if (thrown instanceof MusterError) return { id, root: id, newest: Number.POSITIVE_INFINITY };
    throw thrown;
  }
}

async function deleteTrees(
  parts: StoreParts,
  trees: readonly Tree[],
  endedBefore: number,
): Promise<ReadonlySet<string>> {
  const held: { readonly tree: Tree; readonly release: () => void }[] = [];
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
      .filter((id) => parts.files.stat(parts.tasks.log(id)) !== undefined);
    await removeLocked(parts, new Set(ids));
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
  const modified = files.stat(tasks.log(id))?.modified;
  return modified === undefined || modified < endedBefore;
}
