import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { isId, newId } from '../../base/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import {
  readFileIfExists,
  unlinkIfExists,
  writeViaDraft,
  type FilePort,
} from '../files/file-port.ts';
import { isProcessGone, type ProcessIdentity, type ProcessPort } from './process-identity.ts';

/** The process that holds a lock, and the `token` that identifies the store in this process. */
export interface LockOwner extends ProcessIdentity {
  readonly token: string;
}

/**
 * Locks that a killed process cannot block. An owner is identified by pid, start time and boot, so there is no
 * heartbeat: the next process that wants the lock sees that the owner is dead and takes the lock over. A lock is
 * created by a single link, so nobody sees an incomplete lock. A lock that cannot be read was damaged by a power loss,
 * so its owner is dead.
 */
export class OwnerLocks {
  readonly #files: FilePort;
  readonly #processes: ProcessPort;
  readonly #directory: string;
  /** Distinguishes this store from all others. */
  readonly #token = newId();
  /** The path of the file that describes this store; undefined until the file is needed. */
  #ownFile: string | undefined;

  /**
   * `directory` contains the files that describe owners. A lock is a hard link to such a file, so the directory must be
   * on the file system of the locks.
   */
  constructor(files: FilePort, processes: ProcessPort, directory: string) {
    this.#files = files;
    this.#processes = processes;
    this.#directory = directory;
  }

  /** Makes this store known to the others by its file in the directory. Returns the token of this store. */
  register(): string {
    this.#ensureOwnFile();
    return this.#token;
  }

  /**
   * Returns the time at which the first of the other living stores registered. Milliseconds since the epoch; Infinity
   * if there is none.
   */
  findOldestOtherRegistration(): number {
    const registered = this.#listOwners()
      .filter(({ owner }) => owner.token !== this.#token && !this.#isGone(owner))
      .map(({ file }) => this.#files.stat(file)?.modified ?? Number.POSITIVE_INFINITY);
    return Math.min(...registered);
  }

  /** Removes the files of dead stores from the directory. */
  removeDeadOwners(): void {
    for (const { file, owner } of this.#listOwners()) {
      if (this.#isGone(owner)) unlinkIfExists(this.#files, file);
    }
  }

  /** Takes the lock at `path`. Returns undefined, or the living owner if another store holds the lock. */
  acquire(path: string): LockOwner | undefined {
    for (;;) {
      if (this.#tryToLink(path)) return undefined;
      const owner = readOwner(this.#files, path);
      if (owner === undefined) continue;
      if (!this.#isGone(owner)) return owner;
      const rival = this.#takeOver(path, owner);
      if (rival !== 'changed') return rival;
    }
  }

  /** Releases a lock that this store holds. */
  release(path: string): void {
    unlinkIfExists(this.#files, path);
  }

  /** Returns the owner of a lock if it is alive. */
  findLiveOwner(path: string): LockOwner | undefined {
    const owner = readOwner(this.#files, path);
    return owner === undefined || this.#isGone(owner) ? undefined : owner;
  }

  /** Removes this store's own file. The caller must have released all locks. */
  close(): void {
    if (this.#ownFile !== undefined) unlinkIfExists(this.#files, this.#ownFile);
    this.#ownFile = undefined;
  }

  /**
   * Replaces the lock of a dead owner. Only the process that holds a second lock, the guard, may do so. The guard is
   * named by the token of the dead owner. While that process lives, nobody else touches the first lock, so nothing can
   * change between the check and the replacement. If it dies, its guard is taken over in the same way.
   */
  #takeOver(path: string, dead: LockOwner): LockOwner | undefined | 'changed' {
    const guard = `${path}.${dead.token}`;
    const rival = this.acquire(guard);
    if (rival !== undefined) return rival;
    try {
      if (readOwner(this.#files, path)?.token !== dead.token) return 'changed';
      const link = `${guard}.new`;
      // A process that died at this point may have left the link. Only the holder of the guard creates it.
      unlinkIfExists(this.#files, link);
      this.#files.link(this.#ensureOwnFile(), link);
      this.#files.rename(link, path);
      return undefined;
    } finally {
      this.release(guard);
    }
  }

  /** Creates the lock. Returns false if it exists. */
  #tryToLink(path: string): boolean {
    const ownFile = this.#ownFile ?? this.#ensureOwnFile();
    try {
      this.#files.link(ownFile, path);
      return true;
    } catch (thrown) {
      const code = systemErrorCode(thrown);
      if (code === 'EEXIST') return false;
      if (code !== 'ENOENT' || this.#files.stat(ownFile) !== undefined) throw thrown;
      this.#ensureOwnFile();
      return this.#tryToLink(path);
    }
  }

  /**
   * Returns the path of this store's own file. Writes the file again if a process that sees other processes, such as
   * one in a container, has removed it.
   */
  #ensureOwnFile(): string {
    if (this.#ownFile === undefined || this.#files.stat(this.#ownFile) === undefined) {
      this.#ownFile = this.#writeOwnFile();
    }
    return this.#ownFile;
  }

  #writeOwnFile(): string {
    const token = this.#token;
    this.removeDeadOwners();
    const file = join(this.#directory, token);
    const owner: LockOwner = { ...this.#processes.self(), token };
    writeViaDraft(this.#files, file, Buffer.from(JSON.stringify(owner)), `${file}.new`);
    return file;
  }

  #listOwners(): readonly { readonly file: string; readonly owner: LockOwner }[] {
    const names = this.#files.list(this.#directory).filter((name) => isId(name));
    return names.flatMap((name) => {
      const file = join(this.#directory, name);
      const owner = readOwner(this.#files, file);
      return owner === undefined ? [] : [{ file, owner }];
    });
  }

  #isGone(owner: LockOwner): boolean {
    return isProcessGone(owner, this.#processes);
  }
}

const UNREADABLE: LockOwner = { pid: 0, startTime: 0, bootId: '', host: '', token: 'unreadable' };

function parseOwner(text: string): LockOwner {
  const value = parseJsonLine(text);
  if (!isJsonObject(value)) return UNREADABLE;
  const { pid, startTime, bootId, host, token } = value;
  const isValid =
    typeof pid === 'number' &&
    typeof startTime === 'number' &&
    (typeof bootId === 'string' || bootId === null) &&
    typeof host === 'string' &&
    typeof token === 'string' &&
    /^[a-z0-9]+$/.test(token);
  return isValid ? { pid, startTime, bootId, host, token } : UNREADABLE;
}

/** Reads the owner of a lock, or the owner that a file describes; undefined if the file does not exist. */
function readOwner(files: FilePort, path: string): LockOwner | undefined {
  const bytes = readFileIfExists(files, path);
  return bytes === undefined ? undefined : parseOwner(bytes.toString('utf8'));
}
