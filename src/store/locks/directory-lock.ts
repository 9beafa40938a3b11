import { join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { nodeFiles } from '../files/node-files.ts';
import { OwnerLocks } from './owner-locks.ts';
import { createProcessPort } from './process-identity.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import { toFileError } from '../../sys/files/file-errors.ts';

/** The subdirectory of the lock. It is empty while nobody writes, so git ignores it. */
const LOCKS_DIRECTORY = '.locks';
const LOCK_NAME = 'write';

const FIRST_RETRY_MS = 2;
const MAX_RETRY_MS = 40;
/** The maximum time to wait for a lock. It is long enough, because the owner only writes two small files. */
const MAX_WAIT_MS = 20_000;

/**
 * Runs `work` while no other process of this machine, and no other caller in this process, holds the lock of the
 * directory (absolute, real, existing). The lock of a dead process does not count. Rejects with `CONFLICT` if the
 * lock is not free after 20 seconds. `sleep` waits between attempts; if it rejects, so does this function.
 */
export async function withDirectoryLock<T>(
  directory: string,
  sleep: (ms: number) => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const locksDirectory = join(directory, LOCKS_DIRECTORY);
  try {
    // Use the mode of the directory. If the directory has just been removed, opening it fails with a clear error.
    const { mode = 0o700 } = nodeFiles.stat(directory) ?? {};
    // `holdDirectory` follows no link, which could lead to any directory.
    holdDirectory(directory, locksDirectory, { create: true, mode }).close();
  } catch (thrown) {
    throw toFileError(locksDirectory, thrown);
  }
  const lock = join(locksDirectory, LOCK_NAME);
  const locks = new OwnerLocks(nodeFiles, createProcessPort(), locksDirectory);
  try {
    await waitForLock(locks, lock, sleep);
    try {
      return await work();
    } finally {
      locks.release(lock);
    }
  } finally {
    locks.close();
  }
}

async function waitForLock(
  locks: OwnerLocks,
  lock: string,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  let waited = 0;
  for (let retry = FIRST_RETRY_MS; ; retry = Math.min(retry * 2, MAX_RETRY_MS)) {
    const owner = tryToAcquire(locks, lock);
    if (owner === undefined) return;
    if (waited >= MAX_WAIT_MS) {
      const message = `process ${owner.pid} has held the lock ${lock} for more than ${MAX_WAIT_MS / 1000} s: nothing was changed. Try again later`;
      throw new MusterError('CONFLICT', message);
    }
    // The delay is random, so that the same processes do not collide again and again.
    const ms = Math.ceil(retry * (0.5 + Math.random()));
    waited += ms;
    await sleep(ms);
  }
}

function tryToAcquire(locks: OwnerLocks, lock: string) {
  try {
    return locks.acquire(lock);
  } catch (thrown) {
    throw toFileError(lock, thrown);
  }
}
