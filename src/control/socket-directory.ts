import { chmod, lstat, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Stats } from 'node:fs';
import { errorMessage, MusterError, systemErrorCode, type ErrorCode } from '../base/errors.ts';

/**
 * The directory of a socket decides who can connect. On Linux, connecting requires write permission on the socket and
 * search permission on its directory (unix(7), "Pathname socket ownership and permissions"). If the directory belongs
 * to this user and has the mode 0700, only this user and root can connect, and both can control this process anyway. So
 * no further check is necessary. On other systems, POSIX does not define a meaning for the mode of the socket itself,
 * so only the directory protects it. The client checks the directory, too, because another user may have created a
 * directory with this name in `/tmp` to receive requests.
 */
const PRIVATE_MODE = 0o700;
const ACCESS_BY_OTHERS = 0o077;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/**
 * Creates the directory of the socket if it is missing. The parent of the directory must exist. Throws if
 * `checkSocketDirectory` does.
 */
export async function createSocketDirectory(path: string, uid: number): Promise<void> {
  try {
    await mkdir(path, { mode: PRIVATE_MODE });
    // The umask may have removed permissions of the mode, even the user's own.
    await chmod(path, PRIVATE_MODE);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EEXIST')
      throw createSocketError('create the directory', path, thrown);
  }
  await checkSocketDirectory(path, uid);
}

/**
 * Throws `PERMISSION_DENIED` for a directory that another user can enter, may have created or can replace. Throws
 * `NOT_FOUND` if there is no such directory.
 */
export async function checkSocketDirectory(path: string, uid: number): Promise<void> {
  const [directory, parent] = await Promise.all([lstat(path), stat(dirname(path))]).catch(
    (thrown: unknown) => {
      throw createSocketError('check', path, thrown);
    },
  );
  const problem = describeDirectoryProblem(directory, uid) ?? describeParentProblem(parent);
  if (problem === undefined) return;
  throw new MusterError(
    'PERMISSION_DENIED',
    `the directory of the control socket ${path} ${problem}, so it is not used: check it and remove it, or choose another data directory with --data-dir`,
  );
}

/**
 * Describes why a directory is not safe for control sockets. The description is shown after the name of the directory.
 * Returns undefined if the directory is safe.
 */
export function describeDirectoryProblem(directory: Stats, uid: number): string | undefined {
  if (directory.isSymbolicLink()) return 'is a link';
  if (!directory.isDirectory()) return 'is not a directory';
  if (directory.uid !== uid) return `belongs to user ${directory.uid}, not to you (${uid})`;
  if ((directory.mode & ACCESS_BY_OTHERS) !== 0) {
    return `is open to others (mode ${(directory.mode & 0o777).toString(8)}; it must be 700)`;
  }
  return undefined;
}

/**
 * Describes why the parent of the directory is not safe. If all users may write to the parent, other users can replace
 * the directory, unless the parent has the sticky bit.
 */
export function describeParentProblem(parent: Stats): string | undefined {
  if ((parent.mode & WRITABLE_BY_ALL) === 0 || (parent.mode & STICKY) !== 0) return undefined;
  return 'can be replaced by other users (its parent is world-writable and not sticky)';
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
};

const TEMPORARY_CODES = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EAGAIN']);

/**
 * Creates the error for a failed system call on a control socket or its directory.
 *
 * @param action the failed action as a verb, such as `listen on`
 */
export function createSocketError(action: string, path: string, thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  const code = systemErrorCode(thrown) ?? '';
  const message = `cannot ${action} ${path}: ${errorMessage(thrown)}`;
  return new MusterError(CODES[code] ?? 'INTERNAL_ERROR', message, {
    retryable: TEMPORARY_CODES.has(code),
    cause: thrown,
  });
}
