import { systemClock, type Clock } from '../base/clock.ts';
import { readOpenFileLimit } from '../sys/processes/open-file-limit.ts';
import { BlobDir } from './blobs.ts';
import { dataPaths, prepareDataDir, type DataPaths } from './data-dir.ts';
import { Descriptors } from './descriptors.ts';
import type { FilePort } from './file-port.ts';
import { nodeFiles } from './node-files.ts';
import { OwnerLocks } from './owner-lock.ts';
import { OutputQueue } from './output-queue.ts';
import { createProcessPort, type ProcessPort } from './process-identity.ts';
import { ProblemReports } from './problem-reports.ts';
import { SyncQueue } from './sync-queue.ts';
import { TaskFiles } from './task-files.ts';
import { TaskIndex } from './task-index.ts';

/** What the parts of a store on disk share. */
export interface StoreParts {
  readonly files: FilePort;
  readonly paths: DataPaths;
  readonly clock: Clock;
  readonly processes: ProcessPort;
  readonly locks: OwnerLocks;
  readonly descriptors: Descriptors;
  readonly tasks: TaskFiles;
  readonly outputs: OutputQueue;
  /** Undefined: nothing is made durable. */
  readonly syncs: SyncQueue | undefined;
  readonly blobs: BlobDir;
  readonly former: BlobDir;
  readonly index: TaskIndex;
  readonly problems: ProblemReports;
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
  const limit = readOpenFileLimit();
  if (limit === null) return DESCRIPTORS_WITHOUT_KNOWN_LIMIT;
  return Math.min(MOST_DESCRIPTORS, Math.floor(limit * SHARE_OF_LIMIT));
}

/** Makes the data directory where it is missing. */
export function createParts(options: PartsOptions): StoreParts {
  const files = options.files ?? nodeFiles;
  const paths = dataPaths(options.dataDir);
  const processes = options.processes ?? createProcessPort();
  const locks = new OwnerLocks({ files, processes, directory: paths.owners });
  const descriptors = new Descriptors(files, options.maxDescriptors ?? usualDescriptors());
  const syncs = options.durability === 'safe' ? new SyncQueue(files, descriptors) : undefined;
  const blobDir = (directory: string): BlobDir =>
    new BlobDir({
      files,
      directory,
      introduce: () => void locks.introduce(),
      onUse: (path) => {
        syncs?.addBlob(path);
        syncs?.addDirectory(directory);
      },
    });
  const changed = prepareDataDir(files, paths, process.getuid?.());
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
    outputs: new OutputQueue(files, descriptors, (id) => tasks.output(id)),
    syncs,
    blobs: blobDir(paths.blobs),
    former: blobDir(paths.former),
    index: new TaskIndex(files, locks, paths.index, descriptors),
    problems: new ProblemReports(options.onProblem ?? (() => {})),
  };
}
