import type { Clock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { StorePort } from '../protocol/store-port.ts';
import { hashContent } from '../sys/files/read-file.ts';
import { MemoryStore } from './memory-store.ts';
import { checkTaskId } from './files/task-files.ts';
import { isTaskEvent } from './log/validate-event.ts';
import { callStore, STORE_CALL_MS } from './call-store.ts';
import { PortReplica } from './port-replica.ts';
import type { Redact } from './redact/redactor.ts';

interface ProgramStoreOptions {
  readonly redact: Redact;
  /** Default: that of the system. */
  readonly clock?: Clock;
  /** Called when the stop of a task was requested in the store. */
  readonly onCancelRequested: (id: string) => void;
  /** The maximum time of one call of the store, in milliseconds. Default: 60 seconds. */
  readonly callMs?: number;
}

interface LoadOptions {
  readonly takesOver: boolean;
}

/** The number of tasks whose logs are read at the same time. */
const READERS = 16;
const HASHES = /\b[0-9a-f]{64}\b/g;

/**
 * A store that works in memory and keeps everything in a store of the program as well. It knows the tasks that it has created or
 * loaded. Backups of files are not kept.
 */
export class ProgramStore extends MemoryStore {
  readonly #port: StorePort;
  readonly #replica: PortReplica;
  readonly #callMs: number;

  constructor(
    port: StorePort,
    { onCancelRequested, callMs = STORE_CALL_MS, ...options }: ProgramStoreOptions,
  ) {
    const replica = new PortReplica(port, { onCancelRequested, callMs });
    super({ ...options, replica });
    this.#port = port;
    this.#replica = replica;
    this.#callMs = callMs;
  }

  /**
   * Reads the tree of a task from the store of the program, except the tasks that run here. Rejects with MusterError `NOT_FOUND` if
   * there is no such task, and with `INVALID_PARAM` if a log is not valid.
   *
   * @param takesOver true to take over the task, and those below it that have not ended, before they are read
   */
  async load(id: string, { takesOver }: LoadOptions): Promise<void> {
    checkTaskId(id);
    if (takesOver && !this.#isOwned(id)) await this.#replica.claim(id);
    const [created] = await this.#read(id);
    if (created?.type !== 'task.created')
      throw new MusterError('NOT_FOUND', `task ${id} in the store of the program has no events`);
    const { root } = created.spec;
    const tasks = await this.#call('list', root, () => this.#port.list(root));
    const ids = new Set([id, ...tasks.map((task) => task.id)]);
    const next = [...ids].filter((task) => !this.#isOwned(task)).values();
    const readers = Array.from({ length: READERS }, async () => {
      for (const task of next) await this.#loadTask(task, { takesOver: takesOver && task !== id });
    });
    await Promise.all(readers);
  }

  async #loadTask(id: string, { takesOver }: LoadOptions): Promise<void> {
    let events = await this.#read(id);
    if (takesOver && events.at(-1)?.type !== 'task.ended') {
      await this.#replica.claim(id);
      events = await this.#read(id);
    }
    // A task without events had no time to start.
    if (events.length === 0) return;
    for (const hash of new Set(JSON.stringify(events).match(HASHES))) {
      const content = await this.#call('getBlob', hash, () => this.#port.getBlob(hash));
      // A number of this form need not be that of a content.
      if (content !== null && hashContent(Buffer.from(content)) === hash)
        this.addContent(hash, Buffer.from(content));
    }
    if (!this.#isOwned(id)) this.putTask(id, events);
  }

  async #read(id: string): Promise<readonly TaskEvent[]> {
    const events: TaskEvent[] = [];
    const stopped = new AbortController();
    const { signal } = stopped;
    const stored = this.#port.watch(id, { fromSeq: 0, follow: false, signal });
    const iterator = stored[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.#call('watch', id, () => iterator.next()).catch((thrown: unknown) => {
        stopped.abort();
        throw thrown;
      });
      if (next.done === true) return events;
      const event = next.value;
      if (!isTaskEvent(event, id) || event.seq !== events.length)
        throw new MusterError(
          'INVALID_PARAM',
          `task ${id} in the store of the program: event ${events.length} is missing or not valid`,
        );
      events.push(event);
    }
  }

  #call<T>(method: keyof StorePort, subject: string, run: () => Promise<T>): Promise<T> {
    return callStore(run, { method, subject, ms: this.#callMs });
  }

  #isOwned(id: string): boolean {
    return this.exists(id) && this.getOwner(id) !== null;
  }
}
