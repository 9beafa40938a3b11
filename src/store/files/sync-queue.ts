import { atScopeEnd } from '../../base/at-scope-end.ts';
import { deferred, type Deferred } from '../../base/async.ts';
import type { MusterError } from '../../base/errors.ts';
import type { DescriptorCache } from './descriptor-cache.ts';
import { storageError, type FilePort } from './file-port.ts';
import { BatchGate } from '../../base/batch-gate.ts';
import { ConcurrencyLimit } from '../../base/concurrency-limit.ts';

/** The maximum share of the descriptors that syncs use at the same time. The other descriptors are for writing. */
const MAX_SHARE_OF_DESCRIPTORS = 1 / 4;

/**
 * Waking a thread for each log costs more than its sync, so the syncs of two hundred tasks whose answers end at the
 * same time start together.
 */
const BURSTS = { periodMs: 250, threshold: 100, maxWaitMs: 8 } as const;

interface Round {
  /** The promises that the callers of `sync` wait for, by the path of the log. */
  readonly logs: Map<string, Deferred<void>>;
  readonly done: Promise<void>;
}

/**
 * Makes logs durable. A log that depends on no new blob or file name is synced at once, or together with others if
 * there are many. Blobs and directories are synced in rounds (group commit): a caller that comes while a round runs
 * waits for the next round. A round first makes blobs durable, then logs, and finally the directories that contain
 * them, each once.
 *
 * A failed sync is final, because the kernel may have dropped the bytes and would report success for the next sync. The
 * owner of a log must remember its failure; this class remembers failures of blobs and directories.
 */
export class SyncQueue {
  readonly #files: FilePort;
  readonly #descriptors: DescriptorCache;
  readonly #concurrency: ConcurrencyLimit;
  readonly #bursts = new BatchGate(BURSTS);
  readonly #blobs = new Set<string>();
  readonly #directories = new Set<string>();
  /** The round that has not started yet, which callers can join. */
  #next: Round | undefined;
  /** Resolves when all started and waiting rounds have ended; undefined if there are none. */
  #running: Promise<unknown> | undefined;
  /** The first failure to sync a blob or a directory. After it, no log counts as durable. */
  #broken: MusterError | undefined;

  constructor(files: FilePort, descriptors: DescriptorCache) {
    this.#files = files;
    this.#descriptors = descriptors;
    const share = Math.floor(descriptors.maxOpen * MAX_SHARE_OF_DESCRIPTORS);
    this.#concurrency = new ConcurrencyLimit(Math.max(1, share));
  }

  /** Adds a blob, or another file that logs refer to, to the next round. */
  addBlob(path: string): void {
    this.#blobs.add(path);
  }

  /** Adds a directory to the next round, after a file in it was created, renamed or removed. */
  addDirectory(path: string): void {
    this.#directories.add(path);
  }

  /** Resolves once all bytes written to the log before this call, and its name, are durable. */
  async sync(log: string): Promise<void> {
    const burst = this.#hasPending() ? null : this.#bursts.waitForRelease();
    if (burst !== null) await burst;
    if (!this.#hasPending()) {
      this.#throwFailure(await this.#syncLog(log));
      return;
    }
    this.#next ??= this.#startRound();
    const { logs } = this.#next;
    const durable = logs.get(log) ?? deferred<void>();
    logs.set(log, durable);
    await durable.promise;
  }

  /** Resolves once everything that was added before this call is durable. */
  async syncPending(): Promise<void> {
    this.#next ??= this.#startRound();
    await this.#next.done;
    this.#throwFailure(undefined);
  }

  /** Resolves once no sync is in progress. */
  async waitUntilIdle(): Promise<void> {
    await this.#bursts.release();
    while (this.#next !== undefined) await this.#next.done;
    await this.#running;
    await this.#concurrency.waitUntilIdle();
  }

  /** Checks whether a log may refer to a blob that is not durable yet, or may have a name that is not durable yet. */
  #hasPending(): boolean {
    const added = this.#blobs.size + this.#directories.size;
    return added > 0 || this.#running !== undefined || this.#next !== undefined;
  }

  #startRound(): Round {
    const logs: Round['logs'] = new Map();
    const previous = this.#running;
    const run = async (): Promise<void> => {
      await previous;
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
    await this.#syncAll(blobs, (path) => this.#syncBlob(path));
    const synced = [...logs].map(async ([path, durable]) => {
      const failure = await this.#syncLog(path);
      if (failure !== undefined || directories.length === 0) this.#settle(durable, failure);
    });
    // Without a directory to sync, the round ends here: each caller waits only for its own log.
    if (directories.length === 0) return;
    await Promise.all(synced);
    await this.#syncAll(directories, (path) => this.#files.syncDirectory(path));
    for (const durable of logs.values()) this.#settle(durable, undefined);
  }

  /** Resolves or rejects the promise that the callers of `sync` wait for. Later calls have no effect. */
  #settle(durable: Deferred<void>, failure: MusterError | undefined): void {
    const broken = this.#broken ?? failure;
    if (broken === undefined) durable.resolve();
    else durable.reject(broken);
  }

  /** Syncs blobs or directories, which many logs depend on. After a failure, no log counts as durable any more. */
  async #syncAll(paths: readonly string[], sync: (path: string) => Promise<void>): Promise<void> {
    const failures = paths.map((path) => this.#catchFailure(path, () => sync(path)));
    for (const failure of await Promise.all(failures)) this.#broken ??= failure;
  }

  #syncLog(path: string): Promise<MusterError | undefined> {
    return this.#catchFailure(path, () =>
      this.#descriptors.withPinnedDescriptor(path, (fd) => this.#files.datasync(fd)),
    );
  }

  async #syncBlob(path: string): Promise<void> {
    const fd = this.#files.openAppend(path);
    using _close = atScopeEnd(() => this.#files.close(fd));
    await this.#files.datasync(fd);
  }

  /** Runs a sync. Returns its error; undefined if it succeeds. */
  async #catchFailure(path: string, sync: () => Promise<void>): Promise<MusterError | undefined> {
    try {
      await this.#concurrency.run(sync);
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
