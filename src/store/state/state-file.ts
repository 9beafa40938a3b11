import * as fs from 'node:fs';
import { join } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { quoteForShell } from '../../base/text.ts';
import { getDataPaths, prepareDataDirectory, checkDataDirectory } from '../files/data-dir.ts';
import { storageError, writeAllBytes } from '../files/file-port.ts';
import { nodeFiles } from '../files/node-files.ts';
import { OwnerLocks } from '../locks/owner-locks.ts';
import { createProcessPort } from '../locks/process-identity.ts';
import { readWithLimit } from '../../sys/files/read-at-most.ts';

const MAX_BYTES = 16 * 1024 * 1024;
const WRITABLE_BY_OTHERS = 0o022;
const USABLE_BY_OTHERS = 0o077;
/** The longest wait for another process, which holds the lock for one small write. */
const MAX_WAIT_MS = 10_000;
const WAIT_MS = 10;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;

/**
 * A small file of the user's state directory. Only the user can read and write it (0600, whatever the umask), it is
 * always replaced as a whole, and one process at a time changes it. All methods block, and throw MusterError that
 * names the file and what to do.
 */
export class StateFile {
  readonly path: string;
  readonly #directory: string;
  readonly #remedy: string;
  readonly #isSecret: boolean;

  /**
   * `directory` is absolute. It is created when the file is first written. `remedy`: the next step of a person who has
   * moved a damaged file away, such as "sign in again". `isSecret`: the file is not read if others can read it.
   */
  constructor(
    directory: string,
    name: string,
    remedy: string,
    { isSecret }: { readonly isSecret: boolean } = { isSecret: false },
  ) {
    this.#directory = directory;
    this.#remedy = remedy;
    this.#isSecret = isSecret;
    this.path = join(directory, name);
  }

  /** Reads the file. Returns undefined if it does not exist. */
  read(): string | undefined {
    const uid = process.getuid?.();
    const directory = nodeFiles.stat(this.#directory);
    if (directory === undefined) return undefined;
    checkDataDirectory(this.#directory, directory, uid);
    let fd: number;
    try {
      fd = fs.openSync(this.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (thrown) {
      if (systemErrorCode(thrown) === 'ENOENT') return undefined;
      throw this.#unusable(errorMessage(thrown));
    }
    try {
      const stats = fs.fstatSync(fd);
      if (!stats.isFile()) throw this.#unusable('it is not a regular file');
      if (uid !== undefined && stats.uid !== uid) {
        throw this.#unusable(`it belongs to user ${stats.uid}, not to you (${uid})`);
      }
      this.#checkMode(stats.mode & 0o777);
      const bytes = readWithLimit(fd, MAX_BYTES);
      if (bytes === undefined) throw this.#unusable(`it is larger than ${MAX_BYTES} bytes`);
      return bytes.toString('utf8');
    } finally {
      fs.closeSync(fd);
    }
  }

  /** Replaces the content by the result of `change`. Another process waits meanwhile. */
  update(change: (before: string | undefined) => string): void {
    try {
      this.#updateLocked(change);
    } catch (thrown) {
      // A full or read-only disk, in whatever step it shows.
      throw systemErrorCode(thrown) === undefined
        ? thrown
        : storageError('change', this.path, thrown);
    }
  }

  #updateLocked(change: (before: string | undefined) => string): void {
    const paths = getDataPaths(this.#directory);
    prepareDataDirectory(nodeFiles, paths, process.getuid?.());
    const locks = new OwnerLocks(nodeFiles, createProcessPort(), paths.owners);
    const lock = `${this.path}.lock`;
    try {
      this.#acquire(locks, lock);
      try {
        this.#replace(change(this.read()));
      } finally {
        locks.release(lock);
      }
    } finally {
      locks.close();
    }
  }

  /** Returns the error for a file with content that Muster did not write. */
  damaged(how: string): MusterError {
    return new MusterError(
      'INVALID_PARAM',
      `${this.path} is damaged (${how}), so nothing in it counts: move it away, then ${this.#remedy}`,
    );
  }

  #checkMode(mode: number): void {
    const shown = mode.toString(8);
    if (this.#isSecret && (mode & USABLE_BY_OTHERS) !== 0) {
      const command = `chmod 600 ${quoteForShell(this.path)}`;
      throw this.#unusable(
        `it holds keys, and others can use it (mode ${shown}). Run: ${command}. If others use this machine, also create new keys`,
      );
    }
    if ((mode & WRITABLE_BY_OTHERS) !== 0) {
      throw this.#unusable(`others can write to it (mode ${shown})`);
    }
  }

  #acquire(locks: OwnerLocks, lock: string): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let waited = 0; ; waited += WAIT_MS) {
      const rival = locks.acquire(lock);
      if (rival === undefined) return;
      if (waited >= MAX_WAIT_MS) {
        const message = `process ${rival.pid} is changing ${this.path}: try again`;
        throw new MusterError('CONFLICT', message, { retryable: true });
      }
      Atomics.wait(pause, 0, 0, WAIT_MS);
    }
  }

  #replace(text: string): void {
    const draft = `${this.path}.${newId()}.new`;
    const fd = nodeFiles.openNew(draft);
    try {
      writeAllBytes(nodeFiles, fd, Buffer.from(text));
      fs.fsyncSync(fd);
      nodeFiles.rename(draft, this.path);
    } catch (thrown) {
      nodeFiles.unlink(draft);
      throw storageError('change', this.path, thrown);
    } finally {
      nodeFiles.close(fd);
    }
    syncDirectory(this.#directory);
  }

  #unusable(why: string): MusterError {
    return new MusterError('PERMISSION_DENIED', `${this.path} cannot be used: ${why}`);
  }
}

/** Syncs a directory, so that the new name survives a power cut. */
function syncDirectory(path: string): void {
  const fd = fs.openSync(path, O_RDONLY);
  try {
    fs.fsyncSync(fd);
  } catch (thrown) {
    // Some file systems cannot sync a directory; the file itself is synced.
    if (systemErrorCode(thrown) !== 'EINVAL') throw thrown;
  } finally {
    fs.closeSync(fd);
  }
}
