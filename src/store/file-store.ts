import { systemClock, type Clock } from '../base/clock.ts';
import type { EventBody, TaskEvent } from '../protocol/event.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { BlobDir } from './blobs.ts';
import { dataPaths, prepareDataDir, type DataPaths } from './data-dir.ts';
import { Descriptors } from './descriptors.ts';
import type { FilePort } from './file-port.ts';
import { FileTaskLog, type LogHost, type LogPosition } from './file-task-log.ts';
import { inspectLog, repairLog, type LogState } from './log-repair.ts';
import { scanLog, streamLog } from './log-reader.ts';
import { headerLine, type ScanOptions } from './log-scanner.ts';
import { nodeFiles } from './node-files.ts';
import { OwnerLocks } from './owner-lock.ts';
import { createProcessPort, type ProcessPort } from './process-identity.ts';
import type { Redact } from './redact.ts';
import { openFileLimit } from '../sys/open-file-limit.ts';
import { createStamp } from './stamp.ts';
import { storageError } from './storage-error.ts';
import { SyncQueue } from './sync-queue.ts';
import { TaskFiles } from './task-files.ts';
import { resolvePrefix, taskInUse, taskWithoutSpec } from './task-ids.ts';
import { TaskIndex } from './task-index.ts';
import { listTasks, taskNames } from './task-listing.ts';
import type {
  BlobOptions,
  LogContents,
  LogProblem,
  TaskLog,
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
  /** Append descriptors kept open over all logs. Default 256, at most a quarter of `ulimit -n`. */
  readonly maxDescriptors?: number;
  readonly files?: FilePort;
  readonly processes?: ProcessPort;
}

const MOST_DESCRIPTORS = 256;
/** The rest is for sockets, tools, and the files that they open. */
const SHARE_OF_LIMIT = 1 / 4;

function usualDescriptors(): number {
  const limit = openFileLimit();
  if (limit === null) return MOST_DESCRIPTORS;
  return Math.min(MOST_DESCRIPTORS, Math.floor(limit * SHARE_OF_LIMIT));
}

/** Opens the store of a data directory; any number of processes may have it open. */
export function openStore(options: StoreOptions): TaskStore {
  return new FileStore(options);
}

class FileStore implements TaskStore {
  readonly #files: FilePort;
  readonly #paths: DataPaths;
  readonly #processes: ProcessPort;
  readonly #locks: OwnerLocks;
  readonly #redact: Redact;
  readonly #descriptors: Descriptors;
  readonly #tasks: TaskFiles;
  readonly #syncs: SyncQueue | undefined;
  readonly #blobs: BlobDir;
  readonly #index: TaskIndex;
  readonly #host: LogHost;
  /** The logs that this process owns. */
  readonly #open = new Map<string, FileTaskLog>();

  constructor(options: StoreOptions) {
    const files = options.files ?? nodeFiles;
    this.#files = files;
    this.#paths = dataPaths(options.dataDir);
    this.#processes = options.processes ?? createProcessPort();
    this.#locks = new OwnerLocks({
      files,
      processes: this.#processes,
      directory: this.#paths.owners,
    });
    this.#redact = options.redact ?? ((text) => text);
    this.#descriptors = new Descriptors(files, options.maxDescriptors ?? usualDescriptors());
    this.#tasks = new TaskFiles(files, this.#descriptors, this.#paths);
    this.#syncs =
      options.durability === 'safe' ? new SyncQueue(files, this.#descriptors) : undefined;
    this.#blobs = new BlobDir({
      files,
      directory: this.#paths.blobs,
      onUse: (path) => {
        this.#syncs?.addBlob(path);
        this.#syncs?.addDirectory(this.#paths.blobs);
      },
    });
    this.#index = new TaskIndex(files, this.#locks, this.#paths.index);
    this.#host = this.#createHost(options);
    const changed = prepareDataDir(files, this.#paths, process.getuid?.());
    for (const path of changed) this.#syncs?.addDirectory(path);
  }

  create(spec: TaskSpec): TaskLog {
    const { id } = spec;
    return this.#takeLog(id, () => {
      this.#tasks.create(id);
      const log = this.#newLog(id, { epoch: 1, nextSeq: 0, size: 0, summary: undefined });
      try {
        log.open([{ type: 'task.created', spec }, this.#claimed()], headerLine(id));
      } catch (thrown) {
        this.#tasks.remove(id);
        throw thrown;
      }
      return log;
    });
  }

  scan(id: string, visit: (event: TaskEvent) => void): readonly LogProblem[] {
    const { events, problems } = this.read(id);
    for (const event of events) visit(event);
    return problems;
  }

  exists(id: string): boolean {
    try {
      return this.read(id).events[0]?.type === 'task.created';
    } catch {
      return false;
    }
  }

  claim(id: string, visit: (event: TaskEvent) => void = () => {}): TaskLog {
    this.#tasks.checkExists(id);
    for (const event of this.read(id).events) visit(event);
    return this.#takeLog(id, () => this.#reopen(id));
  }

  read(id: string): LogContents {
    return scanLog(this.#tasks.readLog(id), this.#scan(id));
  }

  events(id: string, fromSeq: number): AsyncIterable<TaskEvent> {
    this.#tasks.checkExists(id);
    return streamLog(this.#files, this.#tasks.log(id), fromSeq, this.#scan(id));
  }

  list(): readonly TaskSummary[] {
    try {
      return listTasks({
        files: this.#files,
        directory: this.#paths.tasks,
        index: this.#index,
        logPath: (id) => this.#tasks.log(id),
        own: (id) => this.#open.get(id)?.summary,
        isOwned: (id) => this.#locks.liveOwner(this.#tasks.lock(id)) !== undefined,
        getBlob: (hash) => this.#blobs.get(hash),
      });
    } catch (thrown) {
      throw storageError('list the tasks in', this.#paths.root, thrown);
    }
  }

  resolveId(prefix: string): string {
    try {
      return resolvePrefix(prefix, taskNames(this.#files, this.#paths.tasks).ids);
    } catch (thrown) {
      throw storageError('list the tasks in', this.#paths.root, thrown);
    }
  }

  putBlob(text: string, options: BlobOptions = {}): string {
    return this.#blobs.put(options.redact === false ? text : this.#redact(text));
  }

  getBlob(hash: string): string {
    return this.#blobs.get(hash);
  }

  outputFile(id: string): string {
    return this.#tasks.output(id);
  }

  appendOutput(id: string, text: string): void {
    this.#tasks.appendOutput(id, this.#redact(text));
  }

  spillFile(id: string, callId: string): string {
    return this.#tasks.spill(id, callId);
  }

  isOwnFile(id: string, path: string): boolean {
    return this.#tasks.isOwn(id, path);
  }

  log(id: string): string {
    return this.#tasks.log(id);
  }

  async close(): Promise<void> {
    for (const log of this.#open.values()) log.close();
    await this.#syncs?.settled();
    this.#descriptors.closeAll();
    this.#locks.close();
  }

  #createHost(options: StoreOptions): LogHost {
    return {
      files: this.#files,
      descriptors: this.#descriptors,
      syncs: this.#syncs,
      stamp: createStamp(options.clock ?? systemClock, options.redact),
      putBlob: (text) => this.#blobs.put(text),
      onEnd: (summary) => this.#updateIndex(summary),
      onClose: (log) => this.#giveUp(log),
    };
  }

  /** Locks the task, then takes its log with `take`; gives the lock back when that fails. */
  #takeLog(id: string, take: () => FileTaskLog): TaskLog {
    const lock = this.#tasks.lock(id);
    this.#acquire(id, lock);
    try {
      const log = take();
      this.#syncs?.addDirectory(this.#paths.tasks);
      this.#open.set(id, log);
      return log;
    } catch (thrown) {
      this.#tasks.forget(id);
      this.#locks.release(lock);
      throw storageError('open', this.#tasks.log(id), thrown);
    }
  }

  #acquire(id: string, lock: string): void {
    try {
      const owner = this.#locks.acquire(lock);
      if (owner !== undefined) throw taskInUse(id, owner.pid);
    } catch (thrown) {
      throw storageError('lock', lock, thrown);
    }
  }

  #newLog(id: string, position: LogPosition): FileTaskLog {
    return new FileTaskLog(this.#host, id, this.#tasks.log(id), position);
  }

  #reopen(id: string): FileTaskLog {
    const paths = { log: this.#tasks.log(id), aside: this.#tasks.damaged(id) };
    const bytes = this.#tasks.readLog(id);
    const state = inspectLog(bytes, this.#scan(id));
    const { nextSeq, goodBytes: size, summary } = state;
    if (summary === undefined) throw taskWithoutSpec(id, paths.log);
    repairLog(this.#files, paths, bytes, state);
    const log = this.#newLog(id, { epoch: state.epoch + 1, nextSeq, size, summary });
    log.open([this.#claimed(), ...this.#notices(id, state)]);
    return log;
  }

  #notices(id: string, state: LogState): readonly EventBody[] {
    if (state.damaged.length === 0) return [];
    const what = state.problems.map((problem) => problem.message).join('; ');
    const message = `damaged lines of this log were moved to ${this.#tasks.damaged(id)}: ${what}`;
    return [{ type: 'warning', message }];
  }

  #giveUp(log: FileTaskLog): void {
    // In this order: whoever finds no lock trusts the index.
    if (log.summary?.ended === null) this.#updateIndex(log.summary);
    this.#open.delete(log.id);
    this.#tasks.forget(log.id);
    this.#locks.release(this.#tasks.lock(log.id));
  }

  #updateIndex(summary: TaskSummary): void {
    try {
      this.#index.put([summary]);
    } catch {
      // A cache on a full disk: the log holds the truth, and the next listing reads it there.
    }
  }

  #claimed(): EventBody {
    const { pid, host } = this.#processes.self();
    return { type: 'task.claimed', pid, host };
  }

  #scan(task: string): ScanOptions {
    return { task, getBlob: (hash) => this.#blobs.get(hash) };
  }
}
