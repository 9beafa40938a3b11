import { systemErrorCode, MusterError, errorMessage } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';

export interface FileStat {
  /** Bytes. */
  readonly size: number;
  /** Permission bits, `0o777` at most. */
  readonly mode: number;
  readonly uid: number;
  /** Milliseconds since the epoch: the last change of the content, or the last `touch`. */
  readonly modified: number;
  /** Distinguishes a file from a later one of the same name. */
  readonly inode: number;
  readonly isDirectory: boolean;
}

/**
 * The file system as the store uses it. Tests replace it to simulate a full disk or a power loss. Its methods throw
 * the errors of Node, with a `code`. Only data that is described as durable survives a power loss.
 */
export interface FilePort {
  /** Creates a file for appending, mode 0600 whatever the umask; `EEXIST` if the name is taken. */
  openNew(path: string): number;
  /** Opens an existing file for appending. */
  openAppend(path: string): number;
  openRead(path: string): number;
  /**
   * Writes once at the end of the file. Returns the number of bytes written, which may be smaller than the length of
   * `bytes`.
   */
  write(fd: number, bytes: Uint8Array): number;
  /** Reads from `position` into the buffer. Returns the number of bytes read; 0 at the end. */
  readAt(fd: number, into: Uint8Array, position: number): number;
  statOpen(fd: number): FileStat;
  truncate(fd: number, length: number): void;
  /** Makes the bytes of a file durable, not its name. */
  datasync(fd: number): Promise<void>;
  /** Does the same as `datasync` but blocks; for rare repairs only. */
  datasyncBlocking(fd: number): void;
  close(fd: number): void;
  readFile(path: string): Buffer;
  /** Returns undefined if the path does not exist. Follows links. */
  stat(path: string): FileStat | undefined;
  /** Sets the modification time of an existing file to now. */
  touch(path: string): void;
  rename(from: string, to: string): void;
  /** Gives a file a second name, atomically; `EEXIST` if that name is taken. */
  link(from: string, to: string): void;
  unlink(path: string): void;
  /** Creates a directory, mode 0700 whatever the umask; its parent must exist. */
  makeDirectory(path: string): void;
  list(path: string): readonly string[];
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}

/** Writes all of the bytes, in several writes if the file system accepts only a part of them at a time. */
export function writeAllBytes(files: FilePort, fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    const count = files.write(fd, written === 0 ? bytes : bytes.subarray(written));
    if (count <= 0) throw new Error('the file system accepts no more bytes');
    written += count;
  }
}

/**
 * Writes a file under the name `draft`, then renames it to `path`, so that nobody sees an incomplete file. Removes the
 * draft on failure. Does not make the file durable.
 */
export function writeViaDraft(
  files: FilePort,
  path: string,
  bytes: Uint8Array,
  draft = `${path}.${newId()}.new`,
): void {
  const fd = files.openNew(draft);
  try {
    try {
      writeAllBytes(files, fd, bytes);
    } finally {
      files.close(fd);
    }
    files.rename(draft, path);
  } catch (thrown) {
    files.unlink(draft);
    throw thrown;
  }
}

/** Reads a file; undefined if it does not exist. */
export function readFileIfExists(files: FilePort, path: string): Buffer | undefined {
  try {
    return files.readFile(path);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Removes a file, or does nothing if it does not exist. */
export function unlinkIfExists(files: FilePort, path: string): void {
  try {
    files.unlink(path);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space on that disk',
  EDQUOT: 'your disk quota is used up',
  EROFS:
    'that file system is read-only: choose another directory with --data-dir or MUSTER_DATA_DIR',
  EACCES: 'check who owns it, or choose another directory with --data-dir or MUSTER_DATA_DIR',
  EMFILE: 'this process has too many files open: raise `ulimit -n`',
};

/** Errors that say that this user may not write there. */
const DENIED = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Converts an error of the file system to a MusterError that names the path, the cause and what to do. `action` is a
 * verb phrase such as `write`. A MusterError is returned as it is.
 */
export function storageError(action: string, path: string, thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  const code = systemErrorCode(thrown);
  const advice = code === undefined ? undefined : ADVICE[code];
  const message = `cannot ${action} ${path}: ${errorMessage(thrown)}`;
  return new MusterError(
    code !== undefined && DENIED.has(code) ? 'PERMISSION_DENIED' : 'INTERNAL_ERROR',
    advice === undefined ? message : `${message}; ${advice}`,
    { retryable: code === 'ENOSPC' || code === 'EDQUOT' || code === 'EMFILE', cause: thrown },
  );
}
