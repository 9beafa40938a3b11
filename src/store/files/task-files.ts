import { basename, dirname, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import type { DataPaths } from './data-dir.ts';
import type { DescriptorCache } from './descriptor-cache.ts';
import type { FilePort } from './file-port.ts';
import { storageError } from './storage-error.ts';
import { checkTaskId, taskNotFoundError } from './task-ids.ts';
import { sha256 } from '../../sys/read-file.ts';

/** These go by themselves: see `deleteTasks`. */
const STAYING_KINDS: ReadonlySet<string> = new Set(['jsonl', 'lock', 'deleted']);
/** Letters of the hash that stands for a call's id. */
const CALL_NAME_LENGTH = 16;

/** The name of a call's spill file. A call's id comes from a provider: only its hash gets into a path. */
export function getSpillFileName(id: string, callId: string): string {
  checkTaskId(id);
  return `${id}-${sha256(callId).slice(0, CALL_NAME_LENGTH)}.txt`;
}

/** The id of the task whose spill file it is. */
export function getSpillFileTask(name: string): string {
  return name.split('-', 1)[0] ?? '';
}

/** Whether a path names a spill file of the task in that directory. */
export function isSpillFile(id: string, directory: string, path: string): boolean {
  return dirname(path) === directory && basename(path).startsWith(`${id}-`);
}

/** The files of each task; every path is made of a checked id. */
export class TaskFiles {
  readonly #files: FilePort;
  readonly #descriptors: DescriptorCache;
  readonly #paths: DataPaths;

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

  /** The log of a task whose deletion has begun: it goes last, and from here on there is no task. */
  deletedLogPath(id: string): string {
    return this.#path(id, 'deleted');
  }

  /** Where damaged lines of the log go. */
  damagedLinesPath(id: string): string {
    return this.#path(id, 'damaged');
  }

  /** There for a task that came from a file: what its log grants was granted elsewhere. */
  importMarkPath(id: string): string {
    return this.#path(id, 'imported');
  }

  /** Makes an empty log; false when there is a file in its place. */
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

  /** Takes back what `create` made. */
  removeLog(id: string): void {
    this.#descriptors.close(this.logPath(id));
    this.#files.unlink(this.logPath(id));
  }

  /** Closes what is kept open of a task. */
  closeFiles(id: string): void {
    this.#descriptors.close(this.logPath(id));
    this.#descriptors.close(this.outputPath(id));
  }

  checkExists(id: string): void {
    if (this.#files.stat(this.logPath(id)) === undefined) throw taskNotFoundError(id);
  }

  createSpillFile(id: string, callId: string): string {
    const path = join(this.#paths.spill, getSpillFileName(id, callId));
    try {
      if (this.#files.stat(path) === undefined) this.#files.close(this.#files.openNew(path));
    } catch (thrown) {
      throw storageError('create', path, thrown);
    }
    return path;
  }

  isTaskFile(id: string, path: string): boolean {
    return path === this.outputPath(id) || isSpillFile(id, this.#paths.spill, path);
  }

  /** Ends a deletion that was cut short. For the lock's holder alone. */
  finishDeletion(id: string): void {
    if (this.#files.stat(this.deletedLogPath(id)) === undefined) return;
    this.removeOtherFiles(new Set([id]));
    this.#files.unlink(this.deletedLogPath(id));
  }

  /** Removes all that is kept of tasks but their logs and locks. For the locks' holder alone. */
  removeOtherFiles(ids: ReadonlySet<string>): void {
    const { tasks, spill } = this.#paths;
    for (const id of ids) this.closeFiles(id);
    for (const name of this.#files.list(tasks)) {
      const [id = '', ...kind] = name.split('.');
      if (ids.has(id) && !STAYING_KINDS.has(kind.join('.'))) this.#files.unlink(join(tasks, name));
    }
    for (const name of this.#files.list(spill)) {
      if (ids.has(getSpillFileTask(name))) this.#files.unlink(join(spill, name));
    }
  }

  #path(id: string, kind: string): string {
    checkTaskId(id);
    // Nothing is left for `join` to put right, and each event asks for a path.
    return `${this.#paths.tasks}/${id}.${kind}`;
  }
}
