import { setTimeout as sleep } from 'node:timers/promises';
import { MusterError } from '../../base/errors.ts';
import { getDataPaths, prepareDataDirectory } from '../files/data-dir.ts';
import { nodeFiles } from '../files/node-files.ts';
import { OwnerLocks } from './owner-locks.ts';
import { createProcessPort } from './process-identity.ts';

const RETRY_DELAY_MS = 20;

/**
 * Runs `work` while it holds a lock that all processes of the user share. A lock of a process that has died is taken
 * over. Rejects with CONFLICT if another process holds the lock for longer than `waitMs`.
 *
 * @param directory the state directory, which is created if it is missing
 * @param path the file of the lock, in the state directory
 */
export async function withAsyncLock<T>(
  { directory, path, waitMs }: { directory: string; path: string; waitMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const paths = getDataPaths(directory);
  prepareDataDirectory(nodeFiles, paths, process.getuid?.());
  const locks = new OwnerLocks(nodeFiles, createProcessPort(), paths.owners);
  try {
    for (let waited = 0; ; waited += RETRY_DELAY_MS) {
      const holder = locks.acquire(path);
      if (holder === undefined) break;
      if (waited >= waitMs) {
        const message = `process ${holder.pid} holds ${path} for too long: try again`;
        throw new MusterError('CONFLICT', message, { retryable: true });
      }
      // oxlint-disable-next-line no-await-in-loop -- the lock becomes free at some time
      await sleep(RETRY_DELAY_MS);
    }
    try {
      return await work();
    } finally {
      locks.release(path);
    }
  } finally {
    locks.close();
  }
}
