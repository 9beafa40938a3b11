import { join } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { toFileError } from '../sys/files/file-errors.ts';
import { holdDirectory } from '../sys/files/held-directory.ts';
import { nodeFiles } from './node-files.ts';
import { OwnerLocks } from './owner-lock.ts';
import { createProcessPort } from './process-identity.ts';

/** In the directory: empty, and so nothing to git, but while somebody writes. */
const LOCKS = '.locks';
const LOCK = 'write';

const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 40;
/** Whoever holds a lock writes two small files. */
const PATIENCE_MS = 20_000;

/**
 * Runs `work` while nobody else holds the directory (absolute, real, existing), in this process or in
 * another one of this machine; a lock that a dead one left counts for nothing. `sleep` rejects where the
 * waiting is to end. Rejects with CONFLICT where somebody holds it for very long.
 */
export async function lockedDirectory<T>(
  directory: string,
  sleep: (ms: number) => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const place = join(directory, LOCKS);
  try {
    // As private as what it guards; the default is for one that has just gone, which opening it tells.
    const { mode = 0o700 } = nodeFiles.stat(directory) ?? {};
    // A link there could lead anywhere.
    holdDirectory(directory, place, { create: true, mode }).close();
  } catch (thrown) {
    throw toFileError(place, thrown);
  }
  const lock = join(place, LOCK);
  const locks = new OwnerLocks({
    files: nodeFiles,
    processes: createProcessPort(),
    directory: place,
  });
  try {
    await acquired(locks, lock, sleep);
    try {
      return await work();
    } finally {
      locks.release(lock);
    }
  } finally {
    locks.close();
  }
}

async function acquired(
  locks: OwnerLocks,
  lock: string,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  let waited = 0;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const owner = acquire(locks, lock);
    if (owner === undefined) return;
    if (waited >= PATIENCE_MS) {
      throw new MusterError(
        'CONFLICT',
        `process ${owner.pid} has been writing here for ${PATIENCE_MS / 1000} s (${lock}): nothing was changed. Try again later`,
      );
    }
    // Unlike everybody else's, so that the same ones don't meet again and again.
    const ms = Math.ceil(wait * (0.5 + Math.random()));
    waited += ms;
    await sleep(ms);
  }
}

function acquire(locks: OwnerLocks, lock: string) {
  try {
    return locks.acquire(lock);
  } catch (thrown) {
    throw toFileError(lock, thrown);
  }
}
