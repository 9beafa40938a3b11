import type { Descriptors } from './descriptors.ts';
import type { FilePort } from './file-port.ts';
import { storageError } from './storage-error.ts';
import type { MusterError } from '../base/errors.ts';

/** Syncs in flight at once: enough to let the journal group them, few enough for the thread pool. */
const PARALLEL = 8;

interface Round {
  readonly logs: Set<string>;
  readonly done: Promise<ReadonlyMap<string, MusterError>>;
}

/**
 * Group commit: whoever asks while a round runs shares the next one. A round first makes blobs durable,
 * then logs, and last the directories that name them, each once.
 *
 * A failed sync is final: the kernel may have dropped the bytes and would answer the next one with
 * success. For a log its owner must keep that in mind; for what all share this class does.
 */
export class SyncQueue {
  readonly #files: FilePort;
  readonly #descriptors: Descriptors;
  readonly #blobs = new Set<string>();
  readonly #directories = new Set<string>();
  #next: Round | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #broken: MusterError | undefined;

  constructor(files: FilePort, descriptors: Descriptors) {
    this.#files = files;
    this.#descriptors = descriptors;
  }

  /** A blob (or any file that logs point to) to be made durable with the next round. */
  addBlob(path: string): void {
    this.#blobs.add(path);
  }

  /** A directory that got or lost a name. */
  addDirectory(path: string): void {
    this.#directories.add(path);
  }

  /** Resolves once all bytes written to the log before this call, and its name, are durable. */
  async sync(log: string): Promise<void> {
    this.#next ??= this.#startRound();
    this.#next.logs.add(log);
    const failures = await this.#next.done;
    const failure = this.#broken ?? failures.get(log);
    if (failure !== undefined) throw failure;
  }

  /** Waits until no round runs. */
  async settled(): Promise<void> {
    while (this.#next !== undefined) await this.#next.done;
    await this.#running;
  }

  #startRound(): Round {
    const logs = new Set<string>();
    const before = this.#running;
    const run = async (): Promise<ReadonlyMap<string, MusterError>> => {
      await before;
      this.#next = undefined;
      return this.#runRound(logs);
    };
    const done = run();
    this.#running = done;
    return { logs, done };
  }

  async #runRound(logs: ReadonlySet<string>): Promise<ReadonlyMap<string, MusterError>> {
    const directories = [...this.#directories];
    const blobs = [...this.#blobs];
    this.#directories.clear();
    this.#blobs.clear();
    const shared = await forEachLimited(blobs, (path) => this.#syncBlob(path));
    const failures = await forEachLimited([...logs], (path) =>
      this.#descriptors.hold(path, (fd) => this.#files.datasync(fd)),
    );
    const named = await forEachLimited(directories, (path) => this.#files.syncDirectory(path));
    for (const failure of [...shared.values(), ...named.values()]) this.#broken ??= failure;
    return failures;
  }

  async #syncBlob(path: string): Promise<void> {
    const fd = this.#files.openAppend(path);
    try {
      await this.#files.datasync(fd);
    } finally {
      this.#files.close(fd);
    }
  }
}

/** Runs `work` over all paths, a few at a time; returns what failed. */
async function forEachLimited(
  paths: readonly string[],
  work: (path: string) => Promise<void>,
): Promise<ReadonlyMap<string, MusterError>> {
  const failures = new Map<string, MusterError>();
  const waiting = paths.values();
  const worker = async (): Promise<void> => {
    for (const path of waiting) {
      try {
        await work(path);
      } catch (thrown) {
        failures.set(path, storageError('make durable', path, thrown));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, paths.length) }, worker));
  return failures;
}
