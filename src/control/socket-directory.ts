import { chmod, lstat, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Stats } from 'node:fs';
import { errorMessage, MusterError, systemErrorCode, type ErrorCode } from '../base/errors.ts';

/**
 * The directory decides who may connect. On Linux, connecting takes write permission on the socket and search
 * permission on its directory (unix(7), "Pathname socket ownership and permissions"). So in a directory of ours with
 * mode 0700 only this user and root can connect, who could do anything to this process anyway, and nothing more is to
 * be checked. On other systems POSIX gives the socket's own mode no meaning, and the directory alone protects it. The
 * client checks, too: in `/tmp` somebody else may have created the directory first, to receive what is meant for us.
 */
const PRIVATE_MODE = 0o700;
const OTHERS = 0o077;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/** Creates the directory if it is missing. Its parent must exist. Throws as the check does. */
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
 * Throws `PERMISSION_DENIED` for a directory that another user may enter, could have created or could replace, and
 * `NOT_FOUND` if there is none.
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

/**
 * Describes why a directory cannot hold our sockets. The description follows its name. Returns undefined if it can.
 */
export function directoryProblem(directory: Stats, uid: number): string | undefined {
  if (directory.isSymbolicLink()) return 'is a link';
  if (!directory.isDirectory()) return 'is not a directory';
  if (directory.uid !== uid) return `belongs to user ${directory.uid}, not to you (${uid})`;
  if ((directory.mode & OTHERS) !== 0) {
    return `is open to others (mode ${(directory.mode & 0o777).toString(8)}, where only 700 will do)`;
  }
  return undefined;
}

/**
 * Describes why a parent cannot hold our directory: in one that all may write to, only the sticky bit keeps others
 * from replacing ours.
 */
export function parentProblem(parent: Stats): string | undefined {
  if ((parent.mode & WRITABLE_BY_ALL) === 0 || (parent.mode & STICKY) !== 0) return undefined;
  return 'lies where everybody may rename it (its parent is world-writable and not sticky)';
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
};

const PASSING = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EAGAIN']);

/**
 * Returns the error for a failure of the system around a control socket. `action` reads like `listen on`.
 */
export function socketError(action: string, path: string, thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  const code = systemErrorCode(thrown) ?? '';
  const message = `cannot ${action} ${path}: ${errorMessage(thrown)}`;
  return new MusterError(CODES[code] ?? 'INTERNAL_ERROR', message, {
    retryable: PASSING.has(code),
    cause: thrown,
  });
}
