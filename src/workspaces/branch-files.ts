import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findFirstLink, lstatIfPresent } from '../sys/files/path-lookup.ts';
import { deleteDirectory } from './worktree-files.ts';

/** The directories with the value and the log of a branch. */
const PLACES = ['refs/heads', 'logs/refs/heads'];

/**
 * Prepares the files of a task's branch for a write of git. The task can write them, and could have put a link there
 * that leads git to another file, or a directory or a lock at which git fails. Whatever is not a plain file is deleted.
 * No process may work in the workspace at the moment.
 *
 * @param branch `muster/ID/NAME`
 */
export async function repairBranchFiles(commonDirectory: string, branch: string): Promise<void> {
  for (const place of PLACES) {
    const path = join(commonDirectory, place, branch);
    const own = dirname(path);
    const isOwnDirectory =
      findFirstLink(own) === undefined && lstatIfPresent(own)?.isDirectory() === true;
    if (!isOwnDirectory) {
      await deleteDirectory(own);
      continue;
    }
    await rm(`${path}.lock`, { force: true, recursive: true });
    const stats = lstatIfPresent(path);
    if (stats !== undefined && (!stats.isFile() || stats.nlink > 1)) await deleteDirectory(path);
  }
}
