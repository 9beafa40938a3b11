import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { StoredTask, StorePort } from '../protocol/store-port.ts';
import { callStore, STORE_CALL_MS } from './call-store.ts';
import type { StoreReplica } from './memory-store.ts';

interface PortReplicaOptions {
  /** Called once for each owner of a task whose stop was requested in the store. */
  readonly onCancelRequested: (id: string) => void;
  /** The maximum time of one call of the store, in milliseconds. Default: 60 seconds. */
  readonly callMs?: number;
}

/**
 * Stores tasks in a store of the program. For each task one call runs at a time, and what is added meanwhile is stored with the
 * next call.
 */
export class PortReplica implements StoreReplica {
  readonly #port: StorePort;
  readonly #options: PortReplicaOptions;
  readonly #queues = new Map<string, TaskQueue>();
  /** The epochs of tasks that were claimed before their logs were read. */
  readonly #claimed = new Map<string, number>();
  /** The contents that are not stored yet, and those that could not be stored. */
  readonly #contents = new Set<Promise<void>>();

  constructor(port: StorePort, options: PortReplicaOptions) {
    this.#port = port;
    this.#options = options;
  }

  addTask(task: StoredTask): void {
    this.#open(task.id, async () => {
      await this.#call('create', task.id, () => this.#port.create(task));
      return 1;
    });
  }

  /** Takes a task over before its log is read, so that its former owner adds nothing afterwards. The next owner here has it then. */
  async claim(id: string): Promise<void> {
    this.#claimed.set(id, await this.#claimNow(id));
  }

  addOwner(id: string): void {
    const claimed = this.#claimed.get(id);
    this.#claimed.delete(id);
    this.#open(id, async () => claimed ?? (await this.#claimNow(id)));
  }

  async #claimNow(id: string): Promise<number> {
    const { epoch } = await this.#call('claim', id, () => this.#port.claim(id));
    if (Number.isSafeInteger(epoch)) return epoch;
    const message = `the store of the program gave no epoch for task ${id}`;
    throw new MusterError('INTERNAL_ERROR', message);
  }

  addEvents(id: string, events: readonly TaskEvent[]): void {
    this.#queues.get(id)?.add(events);
  }

  addBlob(hash: string, content: Buffer): void {
    const stored = this.#call('putBlob', hash, () => this.#port.putBlob(hash, content));
    this.#contents.add(stored);
    // A failure stays in the set, so that no event is stored which may refer to the content.
    stored.then(
      () => this.#contents.delete(stored),
      () => {},
    );
  }

  async sync(id: string): Promise<void> {
    await this.#queues.get(id)?.stored;
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#queues.values()].map(({ stored }) => stored));
  }

  #open(id: string, own: () => Promise<number>): void {
    const earlier = this.#queues.get(id)?.stored ?? Promise.resolve();
    let wasReported = false;
    const queue = new TaskQueue({
      // What a former owner could not store does not concern this one, which has read the log again.
      owned: earlier.catch(() => {}).then(own),
      store: async (epoch, events) => {
        await Promise.all(this.#contents);
        const { cancelRequested } = await this.#call('append', id, () =>
          this.#port.append(id, epoch, events),
        );
        if (!cancelRequested || wasReported) return;
        wasReported = true;
        this.#options.onCancelRequested(id);
      },
    });
    this.#queues.set(id, queue);
  }

  #call<T>(method: keyof StorePort, subject: string, run: () => Promise<T>): Promise<T> {
    return callStore(run, { method, subject, ms: this.#options.callMs ?? STORE_CALL_MS });
  }
}

interface TaskQueueOptions {
  /** Resolves to the epoch when the task is owned. */
  readonly owned: Promise<number>;
  readonly store: (epoch: number, events: readonly TaskEvent[]) => Promise<void>;
}

/** Stores the events of one owner of a task in order. After a failure nothing more is stored. */
class TaskQueue {
  /** Resolves when everything added so far is stored. */
  stored: Promise<void>;
  readonly #options: TaskQueueOptions;
  #waiting: TaskEvent[] = [];

  constructor(options: TaskQueueOptions) {
    this.#options = options;
    this.stored = options.owned.then(() => undefined);
    // `sync` tells about a failure.
    this.stored.catch(() => {});
  }

  add(events: readonly TaskEvent[]): void {
    const isScheduled = this.#waiting.length > 0;
    this.#waiting.push(...events);
    if (isScheduled) return;
    this.stored = this.stored.then(() => this.#storeWaiting());
    this.stored.catch(() => {});
  }

  async #storeWaiting(): Promise<void> {
    const events = this.#waiting;
    this.#waiting = [];
    await this.#options.store(await this.#options.owned, events);
  }
}
