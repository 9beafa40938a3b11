import type { TaskEvent } from './events/event.ts';

/** A task as a store of a program lists it. */
export interface StoredTask {
  /** The id of the task. */
  readonly id: string;
  /** The id of the main task of its tree; its own id for a main task. */
  readonly root: string;
  /** The id of the task that started it; null for a main task. */
  readonly parent: string | null;
}

/** The options of `StorePort.watch`. */
export interface StoreWatchOptions {
  /** The number of the first event, from 0. */
  readonly fromSeq: number;
  /** True to wait for later events until `signal` aborts. False to end after the last event that is stored now. */
  readonly follow: boolean;
  /** The signal that ends the waiting. Default: none, so only the reader ends it. */
  readonly signal?: AbortSignal;
}

/**
 * A store for the logs of tasks, which a program brings. **Experimental:** it may change in a minor version.
 *
 * A task has one owner at a time. `create` makes the caller its owner with epoch 1, and each `claim` makes the caller its owner with
 * the next epoch, so that no former owner can append any more. Muster makes at most one call of `append` at a time for a task. It
 * waits for what it has appended before a tool changes anything, after each answer of a model, and at the end of a task. If a call
 * rejects or takes longer than 60 seconds, the task ends as interrupted; calls that may succeed later have to be repeated by the store.
 *
 * `storeContract` of `muster-agent/testing` checks a store.
 */
export interface StorePort {
  /** Creates a task without events. Rejects with MusterError `CONFLICT` if it exists. */
  create(task: StoredTask): Promise<void>;
  /** Takes a task over, also from an owner that lives. Returns the new epoch. Rejects with `NOT_FOUND` for an unknown task. */
  claim(id: string): Promise<{ readonly epoch: number }>;
  /**
   * Adds events to the end of a log, all or none of them. They are durable when it resolves. `cancelRequested` says whether
   * `requestCancel` was called in this epoch. Rejects with `CONFLICT` if `epoch` is not the current one, or if the first event does
   * not have the next number, also if another event has this number. A repeated call with events that are stored already succeeds without a change.
   */
  append(
    id: string,
    epoch: number,
    events: readonly TaskEvent[],
  ): Promise<{ readonly cancelRequested: boolean }>;
  /** Yields the events of a task in order, unchanged. Rejects with `NOT_FOUND` for an unknown task. */
  watch(id: string, options: StoreWatchOptions): AsyncIterable<TaskEvent>;
  /** Asks the owner of a task to stop it. Rejects with `NOT_FOUND` for an unknown task. */
  requestCancel(id: string): Promise<void>;
  /** Lists the tasks of a tree, in any order. An unknown tree has none. */
  list(root: string): Promise<readonly StoredTask[]>;
  /** Stores a content under its sha256 (hex). It may be stored already. */
  putBlob(hash: string, content: Uint8Array): Promise<void>;
  /** Returns the content; null if it is not stored. */
  getBlob(hash: string): Promise<Uint8Array | null>;
}
