import { atScopeEnd } from '../../base/at-scope-end.ts';
import { deferred, type Deferred } from '../../base/async.ts';
import type { MusterError } from '../../base/errors.ts';
import type { DescriptorCache } from './descriptor-cache.ts';
import { storageError, type FilePort } from './file-port.ts';
import { BatchGate } from '../../base/batch-gate.ts';
import { ConcurrencyLimit } from '../../base/concurrency-limit.ts';

/** The share of the descriptors that syncs may pin at the same time; the rest is for writing. */
const SYNC_SHARE_OF_DESCRIPTORS = 1 / 4;

/**
 * Waking a thread for each log costs more than its sync, so the syncs of two hundred tasks whose answers end at the same
 * time start together.
 */
const BURSTS = { periodMs: 250, threshold: 100, maxWaitMs: 8 } as const;

interface Round {
  /** By path of the log: the promise that callers of `sync` wait for. */
  readonly logs: Map<string, Deferred<void>>;
  readonly done: Promise<void>;
}

/**
 * Makes logs durable. A log that depends on no new blob or name is synced at once, or together with others when there
 * are many. Blobs and names are synced in rounds (group commit): a caller that comes while a round runs waits for the
 * next round, which first makes blobs durable, then logs, and last the directories that name them, each once.
 *
 * A failed sync is final, because the kernel may have dropped the bytes and would report success for the next sync. The
 * owner of a log must remember its failure; this class remembers failures of blobs and directories.
 */
export class SyncQueue {
  readonly #files: FilePort;
  readonly #descriptors: DescriptorCache;
  readonly #lanes: ConcurrencyLimit;
  readonly #bursts = new BatchGate(BURSTS);
  readonly #blobs = new Set<string>();
  readonly #directories = new Set<string>();
  #next: Round | undefined;
  #running: Promise<unknown> | undefined;
  #broken: MusterError | undefined;

  constructor(files: FilePort, descriptors: DescriptorCache) {
    this.#files = files;
    this.#descriptors = descriptors;
    const share = Math.floor(descriptors.maxOpen * SYNC_SHARE_OF_DESCRIPTORS);
    this.#lanes = new ConcurrencyLimit(Math.max(1, share));
  }

  /** Adds a blob, or another file that logs refer to, to the next round. */
  addBlob(path: string): void {
    this.#blobs.add(path);
  }

  /** Adds a directory that got or lost a name to the next round. */
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
    await this.#lanes.waitUntilIdle();
  }

  /** Checks whether a log may refer to a blob that is not durable yet, or may have a name that is not. */
  #hasPending(): boolean {
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
    await this.#syncAll(blobs, (path) => this.#syncBlob(path));
    const synced = [...logs].map(async ([path, durable]) => {
      const failure = await this.#syncLog(path);
      if (failure !== undefined || directories.length === 0) this.#settle(durable, failure);
    });
    // Without a directory to sync, the round is over: each caller waits only for its log.
    if (directories.length === 0) return;
    await Promise.all(synced);
    await this.#syncAll(directories, (path) => this.#files.syncDirectory(path));
    for (const durable of logs.values()) this.#settle(durable, undefined);
  }

  /** Settles the promise of a log's callers. Later calls have no effect. */
  #settle(durable: Deferred<void>, failure: MusterError | undefined): void {
    const broken = this.#broken ?? failure;
    if (broken === undefined) durable.resolve();
    else durable.reject(broken);
  }

  /** Syncs files that many logs depend on. After a failure, no log counts as durable any more. */
  async #syncAll(paths: readonly string[], sync: (path: string) => Promise<void>): Promise<void> {
    const failures = paths.map((path) => this.#failureOf(path, () => sync(path)));
    for (const failure of await Promise.all(failures)) this.#broken ??= failure;
  }

  #syncLog(path: string): Promise<MusterError | undefined> {
    return this.#failureOf(path, () =>
      this.#descriptors.withPinnedDescriptor(path, (fd) => this.#files.datasync(fd)),
    );
  }

  async #syncBlob(path: string): Promise<void> {
    const fd = this.#files.openAppend(path);
    using _close = atScopeEnd(() => this.#files.close(fd));
    await this.#files.datasync(fd);
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
