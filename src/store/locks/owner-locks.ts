import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { isId, newId } from '../../base/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { writeAllBytes, type FilePort } from '../files/file-port.ts';
import { isProcessGone, type ProcessIdentity, type ProcessPort } from './process-identity.ts';

/** Who holds a lock. `token` is each store's own. */
export interface LockOwner extends ProcessIdentity {
  readonly token: string;
}

export interface OwnerLocksOptions {
  readonly files: FilePort;
  readonly processes: ProcessPort;
  /** Of the files that say who an owner is; a lock is a link to one. On the locks' file system. */
  readonly directory: string;
}

/**
 * Locks that outlive a killed process only as long as nobody asks: an owner is told by pid, start time
 * and boot, so there is no heartbeat. A lock is made by one link, so whoever sees it sees all of it;
 * one that can't be read was cut short by a power loss, and its owner is gone.
 */
export class OwnerLocks {
  readonly #files: FilePort;
  readonly #processes: ProcessPort;
  readonly #directory: string;
  /** Tells this store from all others, for its whole life. */
  readonly #token = newId();
  /** The file that says who this store is; made when it is first asked for. */
  #ownFile: string | undefined;

  constructor(options: OwnerLocksOptions) {
    this.#files = options.files;
    this.#processes = options.processes;
    this.#directory = options.directory;
  }

  /** This store's own token; from now on its file in the directory says whose it is. */
  register(): string {
    this.#introduced();
    return this.#token;
  }

  /** When the first of the other living stores came, milliseconds since the epoch; Infinity: none. */
  findOldestRival(): number {
    const came = this.#owners()
      .filter(({ owner }) => owner.token !== this.#token && !this.#isGone(owner))
      .map(({ file }) => this.#files.stat(file)?.modified ?? Number.POSITIVE_INFINITY);
    return Math.min(...came);
  }

  /** Removes what dead stores left in the directory. */
  removeDeadOwners(): void {
    for (const { file, owner } of this.#owners()) {
      if (this.#isGone(owner)) removeIfThere(this.#files, file);
    }
  }

  /** Takes the lock at `path`; returns the living owner instead when there is one. */
  acquire(path: string): LockOwner | undefined {
    for (;;) {
      if (this.#tryLink(path)) return undefined;
      const owner = readOwner(this.#files, path);
      if (owner === undefined) continue;
      if (!this.#isGone(owner)) return owner;
      const rival = this.#takeOver(path, owner);
      if (rival !== 'changed') return rival;
    }
  }

  /** Gives back a lock that this store holds. */
  release(path: string): void {
    removeIfThere(this.#files, path);
  }

  /** The living owner of a lock, if there is one. */
  findLiveOwner(path: string): LockOwner | undefined {
    const owner = readOwner(this.#files, path);
    return owner === undefined || this.#isGone(owner) ? undefined : owner;
  }

  /** To be called when all locks are given back. */
  close(): void {
    if (this.#ownFile !== undefined) removeIfThere(this.#files, this.#ownFile);
    this.#ownFile = undefined;
  }

  /**
   * Only one process may remove the lock that a dead owner left: the one that holds a second lock,
   * named by the dead owner's token. While it lives nobody else touches the first, so between looking
   * again and replacing nothing can change. If it dies, its own lock is taken over in just this way.
   */
  #takeOver(path: string, dead: LockOwner): LockOwner | undefined | 'changed' {
    const guard = `${path}.${dead.token}`;
    const rival = this.acquire(guard);
    if (rival !== undefined) return rival;
    try {
      if (readOwner(this.#files, path)?.token !== dead.token) return 'changed';
      const link = `${guard}.new`;
      // Left by one who died here; nobody but the guard's holder makes it.
      removeIfThere(this.#files, link);
      this.#files.link(this.#introduced(), link);
      this.#files.rename(link, path);
      return undefined;
    } finally {
      this.release(guard);
    }
  }

  /** Whether the lock was free. */
  #tryLink(path: string): boolean {
    const ownFile = this.#ownFile ?? this.#introduced();
    try {
      this.#files.link(ownFile, path);
      return true;
    } catch (thrown) {
      const code = systemErrorCode(thrown);
      if (code === 'EEXIST') return false;
      if (code !== 'ENOENT' || this.#files.stat(ownFile) !== undefined) throw thrown;
      this.#introduced();
      return this.#tryLink(path);
    }
  }

  /** Made anew when somebody who sees other processes (a container) swept it away. */
  #introduced(): string {
    if (this.#ownFile === undefined || this.#files.stat(this.#ownFile) === undefined) {
      this.#ownFile = this.#writeOwnFile();
    }
    return this.#ownFile;
  }

  /** Writes down who this store is, whole before it gets its name; removes what dead ones left. */
  #writeOwnFile(): string {
    const token = this.#token;
    this.removeDeadOwners();
    const file = join(this.#directory, token);
    const draft = `${file}${DRAFT_SUFFIX}`;
    const fd = this.#files.openNew(draft);
    try {
      const owner: LockOwner = { ...this.#processes.self(), token };
      writeAllBytes(this.#files, fd, Buffer.from(JSON.stringify(owner)));
      this.#files.rename(draft, file);
    } catch (thrown) {
      this.#files.unlink(draft);
      throw thrown;
    } finally {
      this.#files.close(fd);
    }
    return file;
  }

  #owners(): readonly { readonly file: string; readonly owner: LockOwner }[] {
    const files = this.#files.list(this.#directory).filter((name) => isId(name));
    return files.flatMap((name) => {
      const file = join(this.#directory, name);
      const owner = readOwner(this.#files, file);
      return owner === undefined ? [] : [{ file, owner }];
    });
  }

  #isGone(owner: LockOwner): boolean {
    return isProcessGone(owner, this.#processes);
  }
}

const DRAFT_SUFFIX = '.new';

const UNREADABLE: LockOwner = { pid: 0, startTime: 0, bootId: '', host: '', token: 'unreadable' };

function parseOwner(text: string): LockOwner {
  const value = parseJsonLine(text);
  if (!isJsonObject(value)) return UNREADABLE;
  const { pid, startTime, bootId, host, token } = value;
  const known =
    typeof pid === 'number' &&
    typeof startTime === 'number' &&
    (typeof bootId === 'string' || bootId === null) &&
    typeof host === 'string' &&
    typeof token === 'string' &&
    /^[a-z0-9]+$/.test(token);
  return known ? { pid, startTime, bootId, host, token } : UNREADABLE;
}

function readOwner(files: FilePort, path: string): LockOwner | undefined {
  try {
    return parseOwner(files.readFile(path).toString('utf8'));
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function removeIfThere(files: FilePort, path: string): void {
  try {
    files.unlink(path);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
  }
}
