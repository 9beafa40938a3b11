import { systemClock, type Clock } from '../base/clock.ts';
import { readOpenFileLimit } from '../sys/processes/open-file-limit.ts';
import { BlobDirectory } from './blobs/blob-directory.ts';
import { getDataPaths, prepareDataDirectory, type DataPaths } from './files/data-dir.ts';
import { DescriptorCache } from './files/descriptor-cache.ts';
import type { FilePort } from './files/file-port.ts';
import { nodeFiles } from './files/node-files.ts';
import { SyncQueue } from './files/sync-queue.ts';
import { TaskFiles } from './files/task-files.ts';
import { TaskIndex } from './index/task-index.ts';
import { OwnerLocks } from './locks/owner-locks.ts';
import { createProcessPort, type ProcessPort } from './locks/process-identity.ts';
import { OutputQueue } from './log/output-queue.ts';
import type { Redact } from './redact/redactor.ts';
import type { LogProblem } from './task-store.ts';

/** The parts of a store on disk. */
export interface StoreParts {
  readonly files: FilePort;
  readonly paths: DataPaths;
  readonly clock: Clock;
  readonly processes: ProcessPort;
  readonly locks: OwnerLocks;
  readonly descriptors: DescriptorCache;
  readonly tasks: TaskFiles;
  readonly outputQueue: OutputQueue;
  /** Undefined if nothing is made durable. */
  readonly syncQueue: SyncQueue | undefined;
  readonly blobs: BlobDirectory;
  /** Contents of the user's files before tasks changed them. */
  readonly backups: BlobDirectory;
  readonly index: TaskIndex;
  readonly problemReporter: LogProblemReporter;
}

export interface StoreOptions {
  /** Absolute. Created, with its parents, if it is missing. */
  readonly dataDir: string;
  /**
   * With `safe`, `sync` makes logs durable. With `fast`, `sync` does nothing, and a power loss may lose the end of
   * logs.
   */
  readonly durability: 'safe' | 'fast';
  readonly clock?: Clock;
  /** Applied to every string before it is written to logs, output and blobs. */
  readonly redact?: Redact;
  /** The number of append descriptors kept open for all logs. Default 4096, at most a quarter of `ulimit -n`. */
  readonly maxDescriptors?: number;
  readonly files?: FilePort;
  readonly processes?: ProcessPort;
  /**
   * Called for each problem in a log, with one line that names its path, the line number, and the lost events. Default:
   * problems are not reported.
   */
  readonly onProblem?: (line: string) => void;
}

/**
 * Enough for two descriptors for each of a thousand tasks, and some more. A descriptor that was closed is opened again
 * when it is needed.
 */
const MAX_DESCRIPTORS = 4096;
/** The number of descriptors if the limit of the process is unknown. It is below the smallest usual limit. */
const DESCRIPTORS_WITHOUT_KNOWN_LIMIT = 256;
/** The share of the limit that the store uses. The rest is for sockets, tools, and the files that tools open. */
const SHARE_OF_LIMIT = 1 / 4;

function getDefaultDescriptors(): number {
  const limit = readOpenFileLimit();
  if (limit === null) return DESCRIPTORS_WITHOUT_KNOWN_LIMIT;
  return Math.min(MAX_DESCRIPTORS, Math.floor(limit * SHARE_OF_LIMIT));
}

/** Creates the parts of a store, and the data directory if it is missing. */
export function createStoreParts(options: StoreOptions): StoreParts {
  const files = options.files ?? nodeFiles;
  const paths = getDataPaths(options.dataDir);
  const processes = options.processes ?? createProcessPort();
  const locks = new OwnerLocks(files, processes, paths.owners);
  const descriptors = new DescriptorCache(files, options.maxDescriptors ?? getDefaultDescriptors());
  const syncQueue = options.durability === 'safe' ? new SyncQueue(files, descriptors) : undefined;
  const blobDir = (directory: string): BlobDirectory =>
    new BlobDirectory({
      files,
      directory,
      registerStore: () => void locks.register(),
      onUse: (path) => {
        syncQueue?.addBlob(path);
        syncQueue?.addDirectory(directory);
      },
    });
  const changed = prepareDataDirectory(files, paths, process.getuid?.());
  for (const path of changed) syncQueue?.addDirectory(path);
  const tasks = new TaskFiles(files, descriptors, paths);
  return {
    files,
    paths,
    clock: options.clock ?? systemClock,
    processes,
    locks,
    descriptors,
    tasks,
    outputQueue: new OutputQueue(files, descriptors, (id) => tasks.outputPath(id)),
    syncQueue,
    blobs: blobDir(paths.blobs),
    backups: blobDir(paths.backups),
    index: new TaskIndex(files, locks, paths.index, descriptors),
    problemReporter: new LogProblemReporter(options.onProblem ?? (() => {})),
  };
}

/** The maximum number of problems that a store reports, so that a badly damaged disk does not fill the screen. */
const MAX_REPORTS = 100;

/** Reports problems of logs to the user of the store, each problem once and in one line. */
class LogProblemReporter {
  readonly #onProblem: (line: string) => void;
  readonly #reported = new Set<string>();

  constructor(onProblem: (line: string) => void) {
    this.#onProblem = onProblem;
  }

  /** Reports a problem in the log at `path`. */
  add(path: string, { line, message }: Pick<LogProblem, 'line' | 'message'>): void {
    this.#report(`${path}:${line}`, message);
  }

  /** Reports that the log at `path` cannot be read. */
  addUnreadable(path: string, message: string): void {
    this.#report(path, message);
  }

  #report(location: string, message: string): void {
    // The first report about a line says which events are lost. Later reports only repeat its consequences.
    if (this.#reported.has(location) || this.#reported.size > MAX_REPORTS) return;
    this.#reported.add(location);
    const isLast = this.#reported.size > MAX_REPORTS;
    this.#onProblem(
      isLast
        ? `more than ${MAX_REPORTS} problems in logs; further problems are not listed`
        : `${location}: ${message}`,
    );
  }
}
