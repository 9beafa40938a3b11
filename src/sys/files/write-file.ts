import * as fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { toFileError, describeFileType } from './file-errors.ts';
import { holdDirectory, type HeldDirectory } from './held-directory.ts';
import { changeAsMuster } from './own-writes.ts';
import { requirePathInRoots, type OpenScope } from './open-in-roots.ts';
import { removeAbandonedTemporaries, temporaryName } from './temporary-files.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_RDONLY, O_DIRECTORY } = fs.constants;
const writeBytes = promisify(fs.write);
const syncFile = promisify(fs.fsync);
const closeFile = promisify(fs.close);

/** Read, write and execute bits. New content must not inherit a setuid, setgid or sticky bit. */
const PERMISSION_BITS = 0o777n;
const SPECIAL_BITS = 0o6000n;

/** The state of the file when its new content was decided. If the file has changed since then, it is not replaced. */
export type ExpectedFile = fs.BigIntStats | 'nothing';

/** A property of the replaced file that the new file does not have. */
export type LostProperty = 'owner' | 'special_bits' | 'other_names';

/** The result of a write. */
export interface WrittenFile {
  readonly real: string;
  readonly lost: readonly LostProperty[];
}

/** Options for a write. */
export interface WriteOptions {
  /** Permission bits. Default: those of the replaced file; for a new file, set by the umask. */
  readonly mode?: number;
}

interface WriteRequest extends WriteOptions {
  /** The final path, with links resolved. */
  readonly real: string;
  readonly content: Buffer;
  readonly expected: ExpectedFile;
}

/**
 * Replaces or creates a file inside the roots atomically: writes and syncs a temporary file in the same directory,
 * renames it to the name of the file, and syncs the directory. Missing directories are created, and a link is
 * followed to its target. The new file keeps the permissions of the replaced file, and its owner if the system allows
 * it. Setuid and setgid bits and other names are not kept, and `lost` reports them. Access control lists and extended
 * attributes are not kept either, but this cannot be detected. Throws MusterError; CONFLICT if the file differs from
 * `expected`.
 */
export async function writeFileInRoots(
  path: string,
  scope: OpenScope,
  content: Buffer,
  expected: ExpectedFile,
  options: WriteOptions = {},
): Promise<WrittenFile> {
  const { real, root } = requirePathInRoots(path, scope, { mayBeMissing: true });
  try {
    if (real === root) throw new MusterError('INVALID_PARAM', `${path} is a directory`);
    using directory = holdDirectory(root, dirname(real), { create: true });
    const lost = await replace(path, directory, basename(real), {
      real,
      content,
      expected,
      ...options,
    });
    removeAbandonedTemporaries(directory);
    return { real, lost };
  } catch (thrown) {
    throw toFileError(path, thrown);
  }
}

async function replace(
  path: string,
  directory: HeldDirectory,
  name: string,
  write: WriteRequest,
): Promise<readonly LostProperty[]> {
  const { expected } = write;
  const target = directory.at(name);
  requireExpected(path, target, expected);
  const temporary = temporaryName();
  try {
    const lost = await writeTemporary(directory, temporary, write);
    requireExpected(path, target, expected);
    changeAsMuster([write.real], () => fs.renameSync(directory.at(temporary), target));
    await syncDirectory(directory.at('.'));
    return lost;
  } catch (thrown) {
    fs.rmSync(directory.at(temporary), { force: true });
    throw thrown;
  }
}

/**
 * Writes and syncs a new file of this name, which is to replace the file `expected` of any directory and gets its owner
 * and permissions. Throws the system's error.
 */
export async function writeTemporary(
  directory: HeldDirectory,
  name: string,
  { content, expected: replaced, mode }: Omit<WriteRequest, 'real'>,
): Promise<readonly LostProperty[]> {
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  // The file has its final mode from the start: nobody else may open it in between.
  const fd = fs.openSync(
    directory.at(name),
    flags,
    replaced === 'nothing' ? (mode ?? 0o666) : 0o600,
  );
  try {
    directory.verify({ name, stats: fs.fstatSync(fd, { bigint: true }) });
    const lost = replaced === 'nothing' ? [] : keepProperties(fd, replaced);
    if (mode !== undefined) fs.fchmodSync(fd, mode);
    for (let done = 0; done < content.length;) {
      const { bytesWritten } = await writeBytes(fd, content, done, content.length - done, done);
      done += bytesWritten;
    }
    await syncFile(fd);
    directory.verify({ name, stats: fs.fstatSync(fd, { bigint: true }) });
    return lost;
  } finally {
    await closeFile(fd);
  }
}

function keepProperties(fd: number, replaced: fs.BigIntStats): readonly LostProperty[] {
  const lost: LostProperty[] = [];
  if (!keepOwner(fd, replaced)) lost.push('owner');
  if ((replaced.mode & SPECIAL_BITS) !== 0n) lost.push('special_bits');
  if (replaced.nlink > 1n) lost.push('other_names');
  fs.fchmodSync(fd, Number(replaced.mode & PERMISSION_BITS));
  return lost;
}

/**
 * Gives the new file the owner and group of the replaced file, and tells whether that succeeded. Only root may give a
 * file to another user; other users may only change the group, to a group of their own.
 */
function keepOwner(fd: number, { uid, gid }: fs.BigIntStats): boolean {
  const created = fs.fstatSync(fd, { bigint: true });
  if (created.uid === uid && created.gid === gid) return true;
  return (
    changeOwner(fd, Number(uid), Number(gid)) ||
    (changeOwner(fd, -1, Number(gid)) && created.uid === uid)
  );
}

function changeOwner(fd: number, uid: number, gid: number): boolean {
  try {
    fs.fchownSync(fd, uid, gid);
    return true;
  } catch (thrown) {
    // EINVAL: in a sandbox there is no such user or group.
    if (['EPERM', 'EINVAL'].includes(systemErrorCode(thrown) ?? '')) return false;
    throw thrown;
  }
}

/** Throws CONFLICT if the file differs from `expected`, and other errors if it may not be written. */
export function requireExpected(path: string, target: string, expected: ExpectedFile): void {
  const found = fs.lstatSync(target, { bigint: true, throwIfNoEntry: false });
  if (found !== undefined) requireWritable(path, target, found);
  const same =
    found === undefined || expected === 'nothing'
      ? found === undefined && expected === 'nothing'
      : isSameFile(found, expected);
  if (!same) throw changedMeanwhile(path);
}

/** Throws if the permissions of a file forbid writing. Replacing a file through its directory must not bypass them. */
function requireWritable(path: string, target: string, found: fs.BigIntStats): void {
  if (!found.isFile()) {
    throw new MusterError(
      'INVALID_PARAM',
      `${path} is ${describeFileType(found)}, not a regular file`,
    );
  }
  if ((found.mode & 0o222n) === 0n) {
    throw new MusterError('PERMISSION_DENIED', `${path} is read-only: nobody may write it`);
  }
  try {
    fs.closeSync(fs.openSync(target, O_WRONLY | O_NOFOLLOW | O_NONBLOCK));
  } catch (thrown) {
    // A running program can be replaced, although it cannot be written to.
    if (systemErrorCode(thrown) !== 'ETXTBSY') throw thrown;
  }
}

/**
 * Tells whether two stats describe the same file with the same content, judged by inode, size and modification time.
 */
export function isSameFile(a: fs.BigIntStats, b: fs.BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

function changedMeanwhile(path: string): MusterError {
  return new MusterError(
    'CONFLICT',
    `${path} was changed by somebody else just now; nothing was written. Read it again.`,
    { retryable: true },
  );
}

/**
 * Syncs a directory, so that new names survive a power failure. A directory that this user may not open is skipped.
 */
export async function syncDirectory(path: string): Promise<void> {
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_DIRECTORY);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'EACCES') return;
    throw thrown;
  }
  try {
    await syncFile(fd);
  } catch (thrown) {
    // Some file systems (network, overlay) cannot sync a directory; the file itself is synced.
    if (systemErrorCode(thrown) !== 'EINVAL') throw thrown;
  } finally {
    await closeFile(fd);
  }
}
