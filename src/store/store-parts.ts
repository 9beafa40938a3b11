import { systemClock, type Clock } from '../base/clock.ts';
import { openFileLimit } from '../sys/open-file-limit.ts';
import { BlobDirectory } from './blobs/blob-directory.ts';
import { getDataPaths, prepareDataDirectory, type DataPaths } from './files/data-dir.ts';
import { DescriptorCache } from './files/descriptor-cache.ts';
import type { FilePort } from './files/file-port.ts';
import { nodeFiles } from './files/node-files.ts';
import { OwnerLocks } from './locks/owner-locks.ts';
import { OutputQueue } from './log/output-queue.ts';
import { createProcessPort, type ProcessPort } from './locks/process-identity.ts';
import { LogProblemReporter } from './log/problem-reporter.ts';
import { SyncQueue } from './files/sync-queue.ts';
import { TaskFiles } from './files/task-files.ts';
import { TaskIndex } from './index/task-index.ts';

/** What the parts of a store on disk share. */
export interface StoreParts {
  readonly files: FilePort;
  readonly paths: DataPaths;
  readonly clock: Clock;
  readonly processes: ProcessPort;
  readonly locks: OwnerLocks;
  readonly descriptors: DescriptorCache;
  readonly tasks: TaskFiles;
  readonly outputQueue: OutputQueue;
  /** Undefined: nothing is made durable. */
  readonly syncQueue: SyncQueue | undefined;
  readonly blobs: BlobDirectory;
  readonly backups: BlobDirectory;
  readonly index: TaskIndex;
  readonly problemReporter: LogProblemReporter;
}

interface PartsOptions {
  readonly dataDir: string;
  readonly durability: 'safe' | 'fast';
  readonly clock?: Clock;
  readonly maxDescriptors?: number;
  readonly files?: FilePort;
  readonly processes?: ProcessPort;
  readonly onProblem?: (line: string) => void;
}

/** Two for each of a thousand tasks at work, and room: what is closed too early is opened again. */
const MOST_DESCRIPTORS = 4096;
/** Fits under the smallest usual limit. */
const DESCRIPTORS_WITHOUT_KNOWN_LIMIT = 256;
/** The rest is for sockets, tools, and the files that they open. */
const SHARE_OF_LIMIT = 1 / 4;

function usualDescriptors(): number {
  const limit = openFileLimit();
  if (limit === null) return DESCRIPTORS_WITHOUT_KNOWN_LIMIT;
  return Math.min(MOST_DESCRIPTORS, Math.floor(limit * SHARE_OF_LIMIT));
}

/** Makes the data directory where it is missing. */
export function createStoreParts(options: PartsOptions): StoreParts {
  const files = options.files ?? nodeFiles;
  const paths = getDataPaths(options.dataDir);
  const processes = options.processes ?? createProcessPort();
  const locks = new OwnerLocks({ files, processes, directory: paths.owners });
  const descriptors = new DescriptorCache(files, options.maxDescriptors ?? usualDescriptors());
  const syncs = options.durability === 'safe' ? new SyncQueue(files, descriptors) : undefined;
  const blobDir = (directory: string): BlobDirectory =>
    new BlobDirectory({
      files,
      directory,
      registerStore: () => void locks.register(),
      onUse: (path) => {
        syncs?.addBlob(path);
        syncs?.addDirectory(directory);
      },
    });
  const changed = prepareDataDirectory(files, paths, process.getuid?.());
  for (const path of changed) syncs?.addDirectory(path);
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
    syncQueue: syncs,
    blobs: blobDir(paths.blobs),
    backups: blobDir(paths.backups),
    index: new TaskIndex(files, locks, paths.index, descriptors),
    problemReporter: new LogProblemReporter(options.onProblem ?? (() => {})),
  };
}
