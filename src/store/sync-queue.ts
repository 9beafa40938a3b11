import { setImmediate as eventsHandled } from 'node:timers/promises';
import { deferred, type Deferred } from '../base/async.ts';
import type { Descriptors } from './descriptors.ts';
import type { FilePort } from './file-port.ts';
import { storageError } from './storage-error.ts';
import type { MusterError } from '../base/errors.ts';

/**
 * Syncs in flight at once: enough to let the journal group them and to keep the thread pool at work
 * while the event loop is busy, few enough for the pool and for a small `ulimit -n`: each holds its
 * descriptor open.
 */
const PARALLEL = 16;

interface Round {
  /** What each log's callers wait for. */
  readonly logs: Map<string, Deferred<void>>;
  readonly done: Promise<void>;
}

/**
 * Group commit: whoever asks while a round runs shares the next one. A round first makes blobs durable,
 * then logs, and last the directories that name them, each once. Where no directory has changed, a
 * log's callers wait for that log alone, and not for the hundreds beside it.
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
  /** Logs of the round before. */
  #sizeBefore = 0;
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
    const { logs } = this.#next;
    const durable = logs.get(log) ?? deferred<void>();
    logs.set(log, durable);
    await durable.promise;
  }

  /** Resolves once all that was added before this call is durable. */
  async syncAdded(): Promise<void> {
    this.#next ??= this.#startRound();
    await this.#next.done;
    if (this.#broken !== undefined) throw this.#broken;
  }

  /** Waits until no round runs. */
  async settled(): Promise<void> {
    while (this.#next !== undefined) await this.#next.done;
    await this.#running;
  }

  #startRound(): Round {
    const logs: Round['logs'] = new Map();
    const before = this.#running;
    const run = async (): Promise<void> => {
      await before;
      // Where many ask at a time, for all that ask while what has come in is worked off: a round of many
      // costs little more. One alone is begun at once, beside what else is to be done.
      if (this.#sizeBefore > 1) await eventsHandled();
      this.#sizeBefore = logs.size;
      this.#next = undefined;
      await this.#runRound(logs);
    };
    const done = run();
    this.#running = done;
    return { logs, done };
  }

  async #runRound(logs: Round['logs']): Promise<void> {
    const directories = [...this.#directories];
    const blobs = [...this.#blobs];
    this.#directories.clear();
    this.#blobs.clear();
    await this.#syncShared(blobs, (path) => this.#syncBlob(path));
    const waiting = new Map(logs);
    await forEachLimited([...logs.keys()], async (path) => {
      const failure = await failureOf(path, () => this.#syncLog(path));
      if (failure === undefined && directories.length > 0) return;
      this.#settle(logs.get(path), failure);
      waiting.delete(path);
    });
    await this.#syncShared(directories, (path) => this.#files.syncDirectory(path));
    for (const durable of waiting.values()) this.#settle(durable, undefined);
  }

  #settle(durable: Deferred<void> | undefined, failure: MusterError | undefined): void {
    const broken = this.#broken ?? failure;
    if (broken === undefined) durable?.resolve();
    else durable?.reject(broken);
  }

  /** What many logs need: where it fails, nothing is durable from here on. */
  async #syncShared(
    paths: readonly string[],
    sync: (path: string) => Promise<void>,
  ): Promise<void> {
    await forEachLimited(paths, async (path) => {
      const failure = await failureOf(path, () => sync(path));
      this.#broken ??= failure;
    });
  }

  #syncLog(path: string): Promise<void> {
    return this.#descriptors.hold(path, (fd) => this.#files.datasync(fd));
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

async function failureOf(
  path: string,
  sync: () => Promise<void>,
): Promise<MusterError | undefined> {
  try {
    await sync();
    return undefined;
  } catch (thrown) {
    return storageError('make durable', path, thrown);
  }
}

/** Runs `work`, which never rejects, over all paths, a few at a time. */
async function forEachLimited(
  paths: readonly string[],
  work: (path: string) => Promise<void>,
): Promise<void> {
  const waiting = paths.values();
  const worker = async (): Promise<void> => {
    for (const path of waiting) await work(path);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, paths.length) }, worker));
}
