import type { Clock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { isBlobHash, type BlobDirectory } from './blobs/blob-directory.ts';
import type { FilePort } from './files/file-port.ts';
import { LockedTasks } from './locked-tasks.ts';
import { readImportMark } from './export/import-mark.ts';
import { OwnedLogs } from './owned-logs.ts';
import { readCreatedEvent, visitLog, streamLog, type EventVisitor } from './log/log-reader.ts';
import type { ScanOptions } from './log/log-scanner.ts';
import { FileLogTail } from './log/log-tail.ts';
import type { ProcessPort } from './locks/process-identity.ts';
import type { Redact } from './redact/redactor.ts';
import { createEventStamper } from './log/event-stamper.ts';
import { storageError } from './files/storage-error.ts';
import { createStoreParts, type StoreParts } from './store-parts.ts';
import { resolveIdPrefix } from './files/task-ids.ts';
import { listStoredTasks, taskNames } from './index/list-tasks.ts';
import type {
  BlobOptions,
  ListTasksOptions,
  LogProblem,
  LogTail,
  StoreSweepOptions,
  TaskLog,
  TaskOwner,
  TaskStore,
  TaskSummary,
} from './task-store.ts';

export interface StoreOptions {
  /** Absolute. Made, with its parents, where it is missing. */
  readonly dataDir: string;
  /** `safe`: `sync` makes durable; `fast`: it does nothing, and a power loss may lose the end of logs. */
  readonly durability: 'safe' | 'fast';
  readonly clock?: Clock;
  /** Applied to every string on its way into logs, output and blobs. */
  readonly redact?: Redact;
  /** Append descriptors kept open over all logs. Default 4096, at most a quarter of `ulimit -n`. */
  readonly maxDescriptors?: number;
  readonly files?: FilePort;
  readonly processes?: ProcessPort;
  /**
   * Called with one line for each problem that is found in a log: its path, the line and which events are
   * lost. Default: nobody is told.
   */
  readonly onProblem?: (line: string) => void;
}

/** Opens the store of a data directory; any number of processes may have it open. */
export function openFileStore(options: StoreOptions): TaskStore {
  return new FileStore(options);
}

/** What few runs need is loaded when it is asked for: deleting, moving and sweeping tasks. */
class FileStore implements TaskStore {
  readonly #parts: StoreParts;
  readonly #redact: Redact;
  readonly #logs: OwnedLogs;
  readonly #locked: LockedTasks;
  readonly #closing = new AbortController();

  constructor(options: StoreOptions) {
    this.#parts = createStoreParts(options);
    this.#redact = options.redact ?? ((text) => text);
    const stamp = createEventStamper(this.#parts.clock, options.redact);
    this.#logs = new OwnedLogs(this.#parts, stamp, (task) => this.#scan(task));
    this.#locked = new LockedTasks(this.#parts.files, this.#parts.paths.tasks);
  }

  get token(): string {
    const { locks, paths } = this.#parts;
    try {
      return locks.register();
    } catch (thrown) {
      throw storageError('write to', paths.owners, thrown);
    }
  }

  create(spec: TaskSpec): TaskLog {
    return this.#logs.create(spec);
  }

  claim(id: string, visit: EventVisitor = () => {}): TaskLog {
    return this.#logs.claim(id, visit);
  }

  scan(id: string, visit: EventVisitor): readonly LogProblem[] {
    const { files, tasks } = this.#parts;
    tasks.checkExists(id);
    const problems = visitLog(files, tasks.logPath(id), this.#scan(id), visit);
    this.#report(id, problems);
    return problems;
  }

  streamEvents(id: string, fromSeq: number): AsyncIterable<TaskEvent> {
    const { files, tasks } = this.#parts;
    tasks.checkExists(id);
    const onProblems = (problems: readonly LogProblem[]) => this.#report(id, problems);
    return streamLog(files, tasks.logPath(id), { ...this.#scan(id), fromSeq, onProblems });
  }

  openTail(id: string): LogTail {
    const { files, tasks } = this.#parts;
    return new FileLogTail(files, tasks.logPath(id), this.#scan(id));
  }

  listLocked(): readonly string[] {
    try {
      return this.#locked.read();
    } catch (thrown) {
      throw storageError('list the tasks in', this.#parts.paths.root, thrown);
    }
  }

  exists(id: string): boolean {
    const { files, tasks } = this.#parts;
    return readCreatedEvent(files, tasks.logPath(id), id) !== undefined;
  }

  isImported(id: string): boolean {
    return this.importedUpTo(id) !== null;
  }

  importedUpTo(id: string): number | null {
    return readImportMark(this.#parts.files, this.#parts.tasks.importMarkPath(id));
  }

  getOwner(id: string): TaskOwner | null {
    const { locks, tasks } = this.#parts;
    const owner = locks.findLiveOwner(tasks.lockPath(id));
    return owner === undefined ? null : { pid: owner.pid, host: owner.host, token: owner.token };
  }

  list(options: ListTasksOptions = { withLedgers: false }): readonly TaskSummary[] {
    const { files, paths, index, tasks, locks, blobs } = this.#parts;
    try {
      return listStoredTasks({
        files,
        directory: paths.tasks,
        index,
        withLedgers: options.withLedgers,
        logPath: (id) => tasks.logPath(id),
        getOwnSummary: (id) => this.#logs.summary(id),
        isOwned: (id) => locks.findLiveOwner(tasks.lockPath(id)) !== undefined,
        getBlob: (hash) => blobs.getText(hash),
        report: (id, problems) => this.#report(id, problems),
        reportUnreadable: (id, message) =>
          this.#parts.problemReporter.addUnreadable(tasks.logPath(id), message),
      });
    } catch (thrown) {
      throw storageError('list the tasks in', paths.root, thrown);
    }
  }

  findReusable(reuseKey: string): readonly string[] {
    const { index, paths } = this.#parts;
    try {
      return index.findByReuseKey(reuseKey);
    } catch (thrown) {
      throw storageError('list the tasks in', paths.root, thrown);
    }
  }

  resolveId(prefix: string): string {
    const { files, paths } = this.#parts;
    try {
      return resolveIdPrefix(prefix, taskNames(files, paths.tasks).ids);
    } catch (thrown) {
      throw storageError('list the tasks in', paths.root, thrown);
    }
  }

  putBlob(text: string, options: BlobOptions = {}): string {
    return this.#parts.blobs.putText(options.redact === false ? text : this.#redact(text));
  }

  getBlob(hash: string): string {
    return this.#parts.blobs.getText(hash);
  }

  putAttachment(bytes: Buffer): string {
    return this.#parts.blobs.putBytes(bytes);
  }

  getAttachment(hash: string): Buffer | null {
    return keptBytes(this.#parts.blobs, hash);
  }

  async putBackup(bytes: Buffer): Promise<void> {
    const { backups: former, syncQueue: syncs } = this.#parts;
    former.putBytes(bytes);
    await syncs?.syncPending();
  }

  getBackup(hash: string): Buffer | null {
    return keptBytes(this.#parts.backups, hash);
  }

  hasBackup(hash: string): boolean {
    const { backups: former, files } = this.#parts;
    return isBlobHash(hash) && files.stat(former.path(hash)) !== undefined;
  }

  async lockTasks(ids: readonly string[]): Promise<() => void> {
    const { lockTasks } = await import('./delete-tasks.ts');
    return lockTasks(this.#parts, ids);
  }

  outputPath(id: string): string {
    return this.#parts.tasks.outputPath(id);
  }

  appendOutput(id: string, text: string): void {
    const { tasks, outputQueue: outputs } = this.#parts;
    if (!this.#logs.owns(id)) tasks.checkExists(id);
    outputs.add(id, this.#redact(text));
  }

  createSpillFile(id: string, callId: string): string {
    return this.#parts.tasks.createSpillFile(id, callId);
  }

  isTaskFile(id: string, path: string): boolean {
    return this.#parts.tasks.isTaskFile(id, path);
  }

  logPath(id: string): string {
    return this.#parts.tasks.logPath(id);
  }

  async delete(ids: readonly string[]): Promise<void> {
    const { deleteStoredTasks: deleteTasks } = await import('./delete-tasks.ts');
    await deleteTasks(this.#parts, ids, this.#closing.signal);
  }

  async *exportTree(rootId: string): AsyncGenerator<string, void, undefined> {
    const { exportTree } = await import('./export/export-tree.ts');
    this.#parts.outputQueue.flush();
    yield* exportTree(this.#parts, rootId);
  }

  async importTree(text: AsyncIterable<string>): Promise<readonly string[]> {
    const { importTree } = await import('./export/import-tree.ts');
    return importTree(this.#parts, text);
  }

  async sweep(options: StoreSweepOptions): Promise<readonly string[]> {
    const { sweepStore } = await import('./sweep.ts');
    const own = (id: string) => this.#logs.summary(id);
    return sweepStore(this.#parts, { ...options, own }, this.#closing.signal);
  }

  async close(): Promise<void> {
    const { syncQueue: syncs, descriptors, locks, outputQueue: outputs } = this.#parts;
    this.#closing.abort();
    this.#logs.close();
    outputs.flush();
    await syncs?.waitUntilIdle();
    descriptors.closeAll();
    locks.close();
  }

  #report(id: string, problems: readonly LogProblem[]): void {
    const { tasks, problemReporter: reports } = this.#parts;
    for (const problem of problems) {
      // Whoever is writing to it may be about to end the line.
      if (problem.code === 'torn_tail' && this.getOwner(id) !== null) continue;
      reports.add(tasks.logPath(id), problem);
    }
  }

  #scan(task: string): ScanOptions {
    return { task, getBlob: (hash) => this.#parts.blobs.getText(hash) };
  }
}

/** Null: they are not there, or are damaged. */
function keptBytes(blobs: BlobDirectory, hash: string): Buffer | null {
  try {
    return blobs.getBytes(hash);
  } catch (thrown) {
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}
