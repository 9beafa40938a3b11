import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { quoteForShell } from '../../base/text.ts';
import { getDataPaths, prepareDataDirectory, checkDataDirectory } from '../files/data-dir.ts';
import { storageError, writeAllBytes } from '../files/file-port.ts';
import { nodeFiles } from '../files/node-files.ts';
import { OwnerLocks } from '../locks/owner-locks.ts';
import { createProcessPort } from '../locks/process-identity.ts';
import { describeFileType } from '../../sys/files/file-errors.ts';
import { readWithLimit } from '../../sys/files/read-at-most.ts';

const MAX_BYTES = 16 * 1024 * 1024;
/** The end of the name of a new version that is being written. */
const DRAFT_SUFFIX = '.new';
const WRITABLE_BY_OTHERS = 0o022;
const USABLE_BY_OTHERS = 0o077;
/** The longest wait for another process, which holds the lock for one small write. */
const LOCK_TIMEOUT_MS = 10_000;
const RETRY_DELAY_MS = 10;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;

/**
 * A small file in the user's state directory. Only the user can read and write the file (0600, whatever the umask),
 * each change replaces the full file, and only one process changes it at a time. All methods block. They throw
 * MusterError, whose message names the file and what to do.
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
      const code = systemErrorCode(thrown);
      if (code === 'ENOENT') return undefined;
      throw this.#unusable(code === 'ELOOP' ? this.#advise('it is a link') : errorMessage(thrown));
    }
    try {
      const stats = fs.fstatSync(fd);
      if (!stats.isFile()) {
        const type = describeFileType(stats);
        throw this.#unusable(this.#advise(`it is not a regular file, but ${type}`));
      }
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

  /** Replaces the content by the result of `change`. Other processes that want to change the file wait. */
  update(change: (before: string | undefined) => string): void {
    this.#withLock(() => this.#replace(change(this.read())));
  }

  /** Removes the drafts that processes have left: each of them holds the full content. */
  removeDrafts(): void {
    if (this.#listDrafts().length > 0) this.#withLock(() => {});
  }

  /** Runs `work` while no other process changes the file. The drafts that are there then belong to no process. */
  #withLock(work: () => void): void {
    try {
      const paths = getDataPaths(this.#directory);
      prepareDataDirectory(nodeFiles, paths, process.getuid?.());
      const locks = new OwnerLocks(nodeFiles, createProcessPort(), paths.owners);
      const lock = `${this.path}.lock`;
      try {
        this.#acquire(locks, lock);
        try {
          for (const name of this.#listDrafts()) nodeFiles.unlink(join(this.#directory, name));
          work();
        } finally {
          locks.release(lock);
        }
      } finally {
        locks.close();
      }
    } catch (thrown) {
      // Any step can fail with a system error, for example because the disk is full or read-only.
      throw systemErrorCode(thrown) === undefined
        ? thrown
        : storageError('change', this.path, thrown);
    }
  }

  #listDrafts(): readonly string[] {
    const start = `${basename(this.path)}.`;
    if (nodeFiles.stat(this.#directory) === undefined) return [];
    const names = nodeFiles.list(this.#directory);
    return names.filter((name) => name.startsWith(start) && name.endsWith(DRAFT_SUFFIX));
  }

  /** Returns the error for a file with content that Muster did not write. */
  damaged(how: string): MusterError {
    return new MusterError(
      'INVALID_PARAM',
      `${this.path} is damaged (${how}), so nothing in it applies: move it away, then ${this.#remedy}`,
    );
  }

  #advise(problem: string): string {
    return `${problem}. Move it away, then ${this.#remedy}`;
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
    for (let waited = 0; ; waited += RETRY_DELAY_MS) {
      const holder = locks.acquire(lock);
      if (holder === undefined) return;
      if (waited >= LOCK_TIMEOUT_MS) {
        const message = `process ${holder.pid} is changing ${this.path}: try again`;
        throw new MusterError('CONFLICT', message, { retryable: true });
      }
      Atomics.wait(pause, 0, 0, RETRY_DELAY_MS);
    }
  }

  #replace(text: string): void {
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_BYTES) {
      const message = `${this.path} was not changed: it would be larger than ${MAX_BYTES} bytes`;
      throw new MusterError('LIMIT_EXCEEDED', message);
    }
    const temporaryPath = `${this.path}.${newId()}${DRAFT_SUFFIX}`;
    const fd = nodeFiles.openNew(temporaryPath);
    try {
      writeAllBytes(nodeFiles, fd, bytes);
      fs.fsyncSync(fd);
      nodeFiles.rename(temporaryPath, this.path);
    } catch (thrown) {
      nodeFiles.unlink(temporaryPath);
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
    // Some file systems cannot sync a directory. The content of the file is synced in any case.
    if (systemErrorCode(thrown) !== 'EINVAL') throw thrown;
  } finally {
    fs.closeSync(fd);
  }
}
