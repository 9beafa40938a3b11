import { deferred, type Deferred } from '../base/async.ts';
import type { MusterError } from '../base/errors.ts';
import { BatchGate } from '../base/batch-gate.ts';
import { ConcurrencyLimit } from '../base/concurrency-limit.ts';
import type { Descriptors } from './descriptors.ts';
import type { FilePort } from './file-port.ts';
import { storageError } from './storage-error.ts';

/** How many are held open by syncs in flight, at most: the rest is for writing. */
const SHARE_OF_DESCRIPTORS = 1 / 4;

/**
 * To wake a thread for each log costs more than its sync: two hundred tasks whose answers end together do
 * better together.
 */
const BURSTS = { periodMs: 250, threshold: 100, maxWaitMs: 8 } as const;

interface Round {
  /** What each log's callers wait for. */
  readonly logs: Map<string, Deferred<void>>;
  readonly done: Promise<void>;
}

/**
 * A log alone is made durable at once, or with others where there are many. What logs share goes in
 * rounds, a group commit: whoever asks while a round runs waits for the next one, which first makes
 * blobs durable, then logs, and last the directories that name them, each once.
 *
 * A failed sync is final: the kernel may have dropped the bytes and would answer the next one with
 * success. For a log its owner must keep that in mind; for what all share this class does.
 */
export class SyncQueue {
  readonly #files: FilePort;
  readonly #descriptors: Descriptors;
  readonly #lanes: ConcurrencyLimit;
  readonly #bursts = new BatchGate(BURSTS);
  readonly #blobs = new Set<string>();
  readonly #directories = new Set<string>();
  #next: Round | undefined;
  #running: Promise<unknown> | undefined;
  #broken: MusterError | undefined;

  constructor(files: FilePort, descriptors: Descriptors) {
    this.#files = files;
    this.#descriptors = descriptors;
    const share = Math.floor(descriptors.cap * SHARE_OF_DESCRIPTORS);
    this.#lanes = new ConcurrencyLimit(Math.max(1, share));
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
    const turn = this.#hasShared() ? null : this.#bursts.waitForRelease();
    if (turn !== null) await turn;
    if (!this.#hasShared()) {
      this.#throwFailure(await this.#syncLog(log));
      return;
    }
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
    this.#throwFailure(undefined);
  }

  /** Waits until nothing is being made durable. */
  async settled(): Promise<void> {
    await this.#bursts.release();
    while (this.#next !== undefined) await this.#next.done;
    await this.#running;
    await this.#lanes.waitUntilIdle();
  }

  /** Whether a log may name what is not durable yet, or have a name that is not. */
  #hasShared(): boolean {
    const added = this.#blobs.size + this.#directories.size;
    return added > 0 || this.#running !== undefined || this.#next !== undefined;
  }

  #startRound(): Round {
    const logs: Round['logs'] = new Map();
    const before = this.#running;
    const run = async (): Promise<void> => {
      await before;
      this.#next = undefined;
      await this.#runRound(logs);
      if (this.#running === done) this.#running = undefined;
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
    const synced = [...logs].map(async ([path, durable]) => {
      const failure = await this.#syncLog(path);
      if (failure !== undefined || directories.length === 0) this.#settle(durable, failure);
    });
    // With no name to wait for, the round is over: each caller waits for its log alone.
    if (directories.length === 0) return;
    await Promise.all(synced);
    await this.#syncShared(directories, (path) => this.#files.syncDirectory(path));
    for (const durable of logs.values()) this.#settle(durable, undefined);
  }

  /** The first time counts. */
  #settle(durable: Deferred<void>, failure: MusterError | undefined): void {
    const broken = this.#broken ?? failure;
    if (broken === undefined) durable.resolve();
    else durable.reject(broken);
  }

  /** What many logs need: where it fails, nothing is durable from here on. */
  async #syncShared(
    paths: readonly string[],
    sync: (path: string) => Promise<void>,
  ): Promise<void> {
    const failures = paths.map((path) => this.#failureOf(path, () => sync(path)));
    for (const failure of await Promise.all(failures)) this.#broken ??= failure;
  }

  #syncLog(path: string): Promise<MusterError | undefined> {
    return this.#failureOf(path, () =>
      this.#descriptors.hold(path, (fd) => this.#files.datasync(fd)),
    );
  }

  async #syncBlob(path: string): Promise<void> {
    const fd = this.#files.openAppend(path);
    try {
      await this.#files.datasync(fd);
    } finally {
      this.#files.close(fd);
    }
  }

  async #failureOf(path: string, sync: () => Promise<void>): Promise<MusterError | undefined> {
    try {
      await this.#lanes.run(sync);
      return undefined;
    } catch (thrown) {
      return storageError('make durable', path, thrown);
    }
  }

  #throwFailure(failure: MusterError | undefined): void {
    const broken = this.#broken ?? failure;
    if (broken !== undefined) throw broken;
  }
}
