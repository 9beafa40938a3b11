import { chmod, lstat, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Stats } from 'node:fs';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { socketError } from './socket-error.ts';

/**
 * Who may connect is decided here. On Linux connecting takes write permission on the socket and
 * search permission on its directory (unix(7), "Pathname socket ownership and permissions"), so in a
 * directory 0700 of ours only this user and root get through, both of whom could do anything to this
 * process anyway: nothing more is to be checked. Elsewhere POSIX leaves the socket's own mode without
 * meaning, and the directory alone does it. The client looks too: in `/tmp` somebody else may have
 * made the directory first, to be told what is meant for us.
 */
const PRIVATE_MODE = 0o700;
const OTHERS = 0o077;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/** Makes the directory where it is missing; its parent must be there. Throws as the check does. */
export async function makeSocketDirectory(path: string, uid: number): Promise<void> {
  try {
    await mkdir(path, { mode: PRIVATE_MODE });
    // The umask took bits away from the mode that mkdir was asked for, perhaps our own.
    await chmod(path, PRIVATE_MODE);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EEXIST') throw socketError('make the directory', path, thrown);
  }
  await checkSocketDirectory(path, uid);
}

/**
 * Throws `PERMISSION_DENIED` for a directory that anybody else may enter, could have made or could
 * swap, `NOT_FOUND` where there is none.
 */
export async function checkSocketDirectory(path: string, uid: number): Promise<void> {
  const [directory, parent] = await Promise.all([lstat(path), stat(dirname(path))]).catch(
    (thrown: unknown) => {
      throw socketError('look at', path, thrown);
    },
  );
  const problem = directoryProblem(directory, uid) ?? parentProblem(parent);
  if (problem === undefined) return;
  throw new MusterError(
    'PERMISSION_DENIED',
    `the directory of the control socket ${path} ${problem}, so it is not used: look at it, then remove it, or choose another data directory with --data-dir`,
  );
}

/** What speaks against a directory as the place of our sockets, read after its name. */
export function directoryProblem(directory: Stats, uid: number): string | undefined {
  if (directory.isSymbolicLink()) return 'is a link';
  if (!directory.isDirectory()) return 'is not a directory';
  if (directory.uid !== uid) return `belongs to user ${directory.uid}, not to you (${uid})`;
  if ((directory.mode & OTHERS) !== 0) {
    return `is open to others (mode ${(directory.mode & 0o777).toString(8)}, where only 700 will do)`;
  }
  return undefined;
}

/** In a directory that all may write to, only the sticky bit keeps others from swapping ours. */
export function parentProblem(parent: Stats): string | undefined {
  if ((parent.mode & WRITABLE_BY_ALL) === 0 || (parent.mode & STICKY) !== 0) return undefined;
  return 'lies where everybody may rename it (its parent is world-writable and not sticky)';
}
