import { isId } from '../base/ids.ts';
import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { isBlobHash, type BlobDirectory } from './blobs/blob-directory.ts';
import { resolveIdPrefix, readImportMarker } from './files/task-files.ts';
import { storageError } from './files/file-port.ts';
import { listStoredTasks } from './index/list-tasks.ts';
import { createEventStamper } from './log/event-stamper.ts';
import {
  FileLogTail,
  readCreatedEvent,
  streamLog,
  visitLog,
  type EventVisitor,
} from './log/log-reader.ts';
import type { ScanOptions } from './log/log-scanner.ts';
import { OwnedLogs } from './owned-logs.ts';
import type { Redact } from './redact/redactor.ts';
import { createStoreParts, type StoreOptions, type StoreParts } from './store-parts.ts';
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

/** Opens the store in a data directory. Any number of processes may have it open at the same time. */
export function openFileStore(options: StoreOptions): TaskStore {
  return new FileStore(options);
}

/** A store in a data directory. Code that few runs need (deletion, export, import, sweep) is loaded at first use. */
class FileStore implements TaskStore {
  readonly #parts: StoreParts;
  readonly #redact: Redact;
  readonly #logs: OwnedLogs;
  readonly #closing = new AbortController();

  constructor(options: StoreOptions) {
    this.#parts = createStoreParts(options);
    this.#redact = options.redact ?? ((text) => text);
    const stamp = createEventStamper(this.#parts.clock, options.redact);
    this.#logs = new OwnedLogs(this.#parts, stamp, (task) => this.#getScanOptions(task));
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
    const problems = visitLog(files, tasks.logPath(id), this.#getScanOptions(id), visit);
    this.#report(id, problems);
    return problems;
  }

  streamEvents(id: string, fromSeq: number): AsyncIterable<TaskEvent> {
    const { files, tasks } = this.#parts;
    tasks.checkExists(id);
    const onProblems = (problems: readonly LogProblem[]) => this.#report(id, problems);
    return streamLog(files, tasks.logPath(id), {
      ...this.#getScanOptions(id),
      fromSeq,
      onProblems,
    });
  }

  openTail(id: string): LogTail {
    const { files, tasks } = this.#parts;
    return new FileLogTail(files, tasks.logPath(id), this.#getScanOptions(id));
  }

  listLocked(): readonly string[] {
    return this.#wrapListErrors(() => this.#parts.tasks.listLocked());
  }

  exists(id: string): boolean {
    const { files, tasks } = this.#parts;
    return readCreatedEvent(files, tasks.logPath(id), id) !== undefined;
  }

  isImported(id: string): boolean {
    return this.importedUpTo(id) !== null;
  }

  importedUpTo(id: string): number | null {
    return readImportMarker(this.#parts.files, this.#parts.tasks.importMarkerPath(id));
  }

  getOwner(id: string): TaskOwner | null {
    const { locks, tasks } = this.#parts;
    const owner = locks.findLiveOwner(tasks.lockPath(id));
    return owner === undefined ? null : { pid: owner.pid, host: owner.host, token: owner.token };
  }

  list(options: ListTasksOptions = { withLedgers: false }): readonly TaskSummary[] {
    const { tasks, problemReporter } = this.#parts;
    return this.#wrapListErrors(() =>
      listStoredTasks({
        ...this.#parts,
        withLedgers: options.withLedgers,
        getOwnedSummary: (id) => this.#logs.getSummary(id),
        reportProblems: (id, problems) => this.#report(id, problems),
        reportUnreadable: (id, message) =>
          problemReporter.addUnreadable(tasks.logPath(id), message),
      }),
    );
  }

  findReusable(reuseKey: string): readonly string[] {
    return this.#wrapListErrors(() => this.#parts.index.findByReuseKey(reuseKey));
  }

  resolveId(prefix: string): string {
    const { files, tasks } = this.#parts;
    return this.#wrapListErrors(() => {
      // A complete id needs no list of the others, which takes a while in a large directory.
      const isComplete = isId(prefix) && files.stat(tasks.logPath(prefix)) !== undefined;
      return isComplete ? prefix : resolveIdPrefix(prefix, tasks.listNames().ids);
    });
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
    return readUndamagedBlob(this.#parts.blobs, hash);
  }

  async putBackup(bytes: Buffer): Promise<void> {
    const { backups, syncQueue } = this.#parts;
    backups.putBytes(bytes);
    await syncQueue?.syncPending();
  }

  getBackup(hash: string): Buffer | null {
    return readUndamagedBlob(this.#parts.backups, hash);
  }

  hasBackup(hash: string): boolean {
    const { backups, files } = this.#parts;
    return isBlobHash(hash) && files.stat(backups.path(hash)) !== undefined;
  }

  async lockTasks(ids: readonly string[]): Promise<() => void> {
    const { lockTasks } = await import('./delete-tasks.ts');
    return lockTasks(this.#parts, ids);
  }

  outputPath(id: string): string {
    return this.#parts.tasks.outputPath(id);
  }

  appendOutput(id: string, text: string): void {
    const { tasks, outputQueue } = this.#parts;
    if (!this.#logs.isOwned(id)) tasks.checkExists(id);
    outputQueue.add(id, this.#redact(text));
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
    const { deleteStoredTasks } = await import('./delete-tasks.ts');
    await deleteStoredTasks(this.#parts, ids, this.#closing.signal);
  }

  async *exportTree(rootId: string): AsyncIterable<string> {
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
    const getOwnedSummary = (id: string) => this.#logs.getSummary(id);
    return sweepStore(this.#parts, { ...options, getOwnedSummary }, this.#closing.signal);
  }

  async close(): Promise<void> {
    const { syncQueue, descriptors, locks, outputQueue } = this.#parts;
    this.#closing.abort();
    this.#logs.close();
    outputQueue.flush();
    await syncQueue?.waitUntilIdle();
    descriptors.closeAll();
    locks.close();
  }

  #report(id: string, problems: readonly LogProblem[]): void {
    const { tasks, problemReporter } = this.#parts;
    for (const problem of problems) {
      // An owner may be about to complete its last line.
      if (problem.code === 'torn_tail' && this.getOwner(id) !== null) continue;
      problemReporter.add(tasks.logPath(id), problem);
    }
  }

  #wrapListErrors<T>(read: () => T): T {
    try {
      return read();
    } catch (thrown) {
      throw storageError('list the tasks in', this.#parts.paths.root, thrown);
    }
  }

  #getScanOptions(task: string): ScanOptions {
    return { task, getBlob: (hash) => this.#parts.blobs.getText(hash) };
  }
}

/** Reads the bytes of a blob; null if it does not exist or is damaged. */
function readUndamagedBlob(blobs: BlobDirectory, hash: string): Buffer | null {
  try {
    return blobs.getBytes(hash);
  } catch (thrown) {
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}
