import { basename, dirname, join } from 'node:path';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { systemErrorCode, MusterError } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import type { DataPaths } from './data-dir.ts';
import type { DescriptorCache } from './descriptor-cache.ts';
import {
  readFileIfExists,
  storageError,
  unlinkIfExists,
  writeAllBytes,
  type FilePort,
} from './file-port.ts';

const LOG_SUFFIX = '.jsonl';
const LOCK_SUFFIX = '.lock';
/** Suffixes of the files that `removeOtherFiles` does not remove. Its callers remove these files before or after it. */
const KEPT_SUFFIXES: ReadonlySet<string> = new Set(['jsonl', 'lock', 'deleted']);
/** Characters of the hash of a call's id in the name of its spill file. */
const CALL_HASH_LENGTH = 16;

/**
 * Returns the name of the spill file of a call. The file contains the full output of the call if the output is too long
 * for a tool result. The id of a call comes from a provider, so only the hash of the id becomes part of a path.
 */
export function getSpillFileName(id: string, callId: string): string {
  checkTaskId(id);
  return `${id}-${hashContent(callId).slice(0, CALL_HASH_LENGTH)}.txt`;
}

/** Returns the id of the task that a spill file belongs to. */
export function getSpillFileTask(name: string): string {
  return name.split('-', 1)[0] ?? '';
}

/** Checks whether a path is a spill file of the task in the spill directory. */
export function isSpillFile(id: string, directory: string, path: string): boolean {
  return dirname(path) === directory && basename(path).startsWith(`${id}-`);
}

interface TaskNames {
  /** Ids of all logs. */
  readonly ids: readonly string[];
  /** Names of all lock files without their suffix, including locks whose owner is dead. */
  readonly locked: ReadonlySet<string>;
}

/** The files of each task. Every path is built from a checked id. */
export class TaskFiles {
  readonly #files: FilePort;
  readonly #descriptors: DescriptorCache;
  readonly #paths: DataPaths;
  /** The modification time of the directory of tasks when `#lockedIds` was read. Milliseconds since the epoch. */
  #lockListModified = -1;
  #lockedIds: readonly string[] = [];
  /** False if the directory may have changed again within the clock tick of `#lockListModified`. */
  #isLockListFinal = false;

  constructor(files: FilePort, descriptors: DescriptorCache, paths: DataPaths) {
    this.#files = files;
    this.#descriptors = descriptors;
    this.#paths = paths;
  }

  logPath(id: string): string {
    return this.#path(id, 'jsonl');
  }

  lockPath(id: string): string {
    return this.#path(id, 'lock');
  }

  outputPath(id: string): string {
    return this.#path(id, 'out');
  }

  /**
   * The path to which the log of a task is renamed when the task is deleted. From then on, the task no longer exists.
   */
  deletedLogPath(id: string): string {
    return this.#path(id, 'deleted');
  }

  /** The path of the file to which damaged lines of the log are moved. */
  damagedLinesPath(id: string): string {
    return this.#path(id, 'damaged');
  }

  /**
   * The path of the marker file of an imported task. Grants in the imported part of its log come from another machine
   * and are not trusted.
   */
  importMarkerPath(id: string): string {
    return this.#path(id, 'imported');
  }

  /** Reads the names in the directory of tasks. */
  listNames(): TaskNames {
    const ids: string[] = [];
    const locked = new Set<string>();
    for (const name of this.#files.list(this.#paths.tasks)) {
      if (name.endsWith(LOG_SUFFIX)) {
        const id = name.slice(0, -LOG_SUFFIX.length);
        if (isId(id)) ids.push(id);
      } else if (name.endsWith(LOCK_SUFFIX)) {
        locked.add(name.slice(0, -LOCK_SUFFIX.length));
      }
    }
    return { ids, locked };
  }

  /**
   * Lists the ids of the tasks with a lock file. Reads the names only if the directory has changed since the last call.
   */
  listLocked(): readonly string[] {
    const modified = this.#files.stat(this.#paths.tasks)?.modified ?? -1;
    if (modified === this.#lockListModified && this.#isLockListFinal) return this.#lockedIds;
    // Read the names twice after a change, because a second change within one tick of the clock leaves the time
    // unchanged.
    this.#isLockListFinal = modified === this.#lockListModified;
    this.#lockListModified = modified;
    this.#lockedIds = [...this.listNames().locked].filter((id) => isId(id));
    return this.#lockedIds;
  }

  /** Creates an empty log. Returns false if a file with its name exists. */
  createLog(id: string): boolean {
    const path = this.logPath(id);
    try {
      this.#descriptors.add(path, this.#files.openNew(path));
      return true;
    } catch (thrown) {
      if (systemErrorCode(thrown) === 'EEXIST') return false;
      throw storageError('create', path, thrown);
    }
  }

  removeLog(id: string): void {
    this.#descriptors.close(this.logPath(id));
    this.#files.unlink(this.logPath(id));
  }

  /** Closes the descriptors that are kept open for a task. */
  closeFiles(id: string): void {
    this.#descriptors.close(this.logPath(id));
    this.#descriptors.close(this.outputPath(id));
  }

  /** Throws `NOT_FOUND` if the task has no log. */
  checkExists(id: string): void {
    if (this.#files.stat(this.logPath(id)) === undefined) throw taskNotFoundError(id);
  }

  /** Creates an empty spill file for a call unless the file exists. Returns the path of the file. */
  createSpillFile(id: string, callId: string): string {
    const path = join(this.#paths.spill, getSpillFileName(id, callId));
    try {
      if (this.#files.stat(path) === undefined) this.#files.close(this.#files.openNew(path));
    } catch (thrown) {
      throw storageError('create', path, thrown);
    }
    return path;
  }

  /** Checks whether a path is the output or a spill file of the task. */
  isTaskFile(id: string, path: string): boolean {
    return path === this.outputPath(id) || isSpillFile(id, this.#paths.spill, path);
  }

  /** Finishes a deletion that was interrupted. The caller must hold the lock of the task. */
  finishDeletion(id: string): void {
    if (this.#files.stat(this.deletedLogPath(id)) === undefined) return;
    this.removeOtherFiles(new Set([id]));
    this.#files.unlink(this.deletedLogPath(id));
  }

  /** Removes all files of tasks except their logs and locks. The caller must hold the locks of the tasks. */
  removeOtherFiles(ids: ReadonlySet<string>): void {
    const { tasks, spill } = this.#paths;
    for (const id of ids) this.closeFiles(id);
    for (const name of this.#files.list(tasks)) {
      const [id = '', ...kind] = name.split('.');
      if (ids.has(id) && !KEPT_SUFFIXES.has(kind.join('.'))) this.#files.unlink(join(tasks, name));
    }
    for (const name of this.#files.list(spill)) {
      if (ids.has(getSpillFileTask(name))) this.#files.unlink(join(spill, name));
    }
  }

  #path(id: string, kind: string): string {
    checkTaskId(id);
    // `join` would be slower, and there is nothing to normalize. This runs for each event.
    return `${this.#paths.tasks}/${id}.${kind}`;
  }
}

const COUNT = /^\d{1,15}$/;

/**
 * Reads the number of the last imported event; null if the task has no marker. If the marker contains no number, all
 * events count as imported.
 */
export function readImportMarker(files: FilePort, path: string): number | null {
  const text = readFileIfExists(files, path)?.toString('utf8').trim();
  if (text === undefined) return null;
  return COUNT.test(text) ? Number(text) : Number.MAX_SAFE_INTEGER;
}

/** Marks a task as imported. Replaces the marker of an earlier task with this id. */
export function writeImportMarker(files: FilePort, path: string, lastSeq: number): void {
  unlinkIfExists(files, path);
  const fd = files.openNew(path);
  using _close = atScopeEnd(() => files.close(fd));
  writeAllBytes(files, fd, Buffer.from(`${lastSeq}\n`));
}

/** The maximum number of candidates that the error for an ambiguous prefix lists. */
const MAX_CANDIDATES = 5;

/** Throws `INVALID_PARAM` unless `id` is well formed, so that nothing else becomes part of a path. */
export function checkTaskId(id: string): void {
  if (isId(id)) return;
  const message = `${JSON.stringify(id)} is not a task id: an id has 8 to 32 characters from a-z and 0-9`;
  throw new MusterError('INVALID_PARAM', message);
}

export function taskNotFoundError(id: string): MusterError {
  const message = `there is no task ${JSON.stringify(id)}: \`muster tasks list\` shows them`;
  return new MusterError('NOT_FOUND', message);
}

export function taskExistsError(id: string): MusterError {
  return new MusterError('CONFLICT', `there is already a task ${id}`);
}

export function taskInUseError(id: string, pid: number): MusterError {
  const message = `task ${id} is in use by process ${pid}: stop it there, or wait until it ends`;
  return new MusterError('CONFLICT', message);
}

/**
 * Returns the line to look at, as `path:line`, in a log without the specification of its task: the line of the first
 * problem, or the first line.
 */
export function locateMissingSpec(
  path: string,
  problems: readonly { readonly line: number }[],
): string {
  return `${path}:${problems[0]?.line ?? 1}`;
}

export function missingSpecError(id: string, location: string): MusterError {
  const message = `task ${id} cannot continue: its specification is missing or damaged in ${location}`;
  return new MusterError('INTERNAL_ERROR', message);
}

/**
 * Finds the only id that begins with `prefix`. A complete id matches itself even if other ids begin with it. Throws
 * `NOT_FOUND`, or `INVALID_PARAM` if several ids match.
 */
export function resolveIdPrefix(prefix: string, ids: Iterable<string>): string {
  if (prefix === '') throw new MusterError('INVALID_PARAM', 'a task id is empty');
  const candidates: string[] = [];
  for (const id of ids) {
    if (id === prefix) return id;
    if (id.startsWith(prefix)) candidates.push(id);
  }
  const [first] = candidates;
  if (first === undefined) throw taskNotFoundError(prefix);
  if (candidates.length === 1) return first;
  const named = candidates.toSorted().slice(0, MAX_CANDIDATES).join(', ');
  const rest = candidates.length - MAX_CANDIDATES;
  const message = `${candidates.length} tasks begin with ${JSON.stringify(prefix)}: ${named}${rest > 0 ? ` and ${rest} more` : ''}; give more of the id`;
  throw new MusterError('INVALID_PARAM', message);
}
