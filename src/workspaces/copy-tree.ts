import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readlink,
  symlink,
  utimes,
} from 'node:fs/promises';
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { MusterError } from '../base/errors.ts';

/** How much may be copied into a workspace. */
export interface CopyLimits {
  /** The maximum number of files and links. */
  readonly files: number;
  /** The maximum total size in bytes. */
  readonly bytes: number;
}

/** The default limits of a copy. */
export const DEFAULT_COPY_LIMITS: CopyLimits = { files: 50_000, bytes: 500 * 1024 * 1024 };

/** The number of files that are copied at the same time. */
const BATCH = 16;

/**
 * Copies files and directories, sharing their blocks where the file system can (reflink). Counts what it copies against
 * the limits, and keeps permissions and times. Links are copied as links.
 */
export class TreeCopier {
  /** Paths that were not copied: devices, pipes and sockets, and names that are not UTF-8. */
  readonly skipped: string[] = [];
  readonly #limits: CopyLimits;
  readonly #signal: AbortSignal;
  #files = 0;
  #bytes = 0;

  constructor(limits: CopyLimits, signal: AbortSignal) {
    this.#limits = limits;
    this.#signal = signal;
  }

  /**
   * Copies the content of a directory into an empty one. `leaveOut` tells which absolute paths are not copied. Throws
   * MusterError `LIMIT_EXCEEDED` if there is too much to copy.
   */
  async copyDirectory(
    from: string,
    to: string,
    leaveOut: (path: string) => boolean = () => false,
  ): Promise<void> {
    const names = await readdir(from, { encoding: 'buffer' });
    for (let at = 0; at < names.length; at += BATCH) {
      const batch = names.slice(at, at + BATCH).map((bytes) => {
        const name = bytes.toString('utf8');
        const path = join(from, name);
        if (!isUtf8(bytes)) this.skipped.push(path);
        return isUtf8(bytes) && !leaveOut(path) ? this.#copy(path, join(to, name), leaveOut) : null;
      });
      await Promise.all(batch);
    }
  }

  /** Copies a file, a link or a directory to a path at which there is nothing. */
  async copyEntry(from: string, to: string): Promise<void> {
    await this.#copy(from, to, () => false);
  }

  async #copy(from: string, to: string, leaveOut: (path: string) => boolean): Promise<void> {
    this.#signal.throwIfAborted();
    const stats = await lstat(from);
    if (stats.isDirectory()) {
      await mkdir(to, { mode: 0o700 });
      await this.copyDirectory(from, to, leaveOut);
      await chmod(to, (stats.mode & 0o777) | 0o700);
      return;
    }
    if (!stats.isFile() && !stats.isSymbolicLink()) {
      this.skipped.push(from);
      return;
    }
    this.#count(from, stats.size);
    if (stats.isSymbolicLink()) {
      await symlink(await readlink(from), to);
      return;
    }
    await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await utimes(to, stats.atime, stats.mtime);
  }

  #count(path: string, size: number): void {
    this.#files += 1;
    this.#bytes += size;
    const { files, bytes } = this.#limits;
    if (this.#files <= files && this.#bytes <= bytes) return;
    const limit = this.#files > files ? `${files} files` : `${bytes} bytes`;
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `the workspace of a task may copy at most ${limit} that git does not track (reached at ${path}); start in a smaller directory, in a git repository, or raise the limit`,
    );
  }
}
