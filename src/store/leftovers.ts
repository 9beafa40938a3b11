import { join } from 'node:path';
import { isId } from '../base/ids.ts';
import type { StoreParts } from './store-parts.ts';
import { spillOwner } from './files/task-files.ts';
import { taskNames } from './index/list-tasks.ts';

const DAY_MS = 86_400_000;
const DRAFT_SUFFIX = '.new';

/** Removes what killed processes left: old drafts, files without a log, words about tasks that are gone. */
export function removeLeftovers(parts: StoreParts, now: number): void {
  parts.locks.sweep();
  const { root, tasks, spill, blobs, former, owners } = parts.paths;
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
  for (const name of files.list(paths.spill)) ids.add(spillOwner(name));
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
  const lock = tasks.lock(id);
  if (locks.acquire(lock) !== undefined) return false;
  try {
    const isOrphan = files.stat(tasks.log(id)) === undefined;
    if (isOrphan) tasks.removeKept(new Set([id]));
    return isOrphan;
  } finally {
    locks.release(lock);
  }
}
