import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { StoredTask, StorePort, StoreWatchOptions } from '../../protocol/store-port.ts';

interface StoredLog {
  readonly task: StoredTask;
  /** The JSON of each event. */
  readonly events: string[];
  epoch: number;
  /** The epoch in which a stop was requested last; 0 if none was. */
  cancelledEpoch: number;
  /** Resolves when events are added. */
  added: Deferred<void>;
}

/**
 * Creates a store in memory for `MusterOptions.store`. Several instances may share it, one after the other, as processes on several
 * machines share a database.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { memoryStore, scriptedModel } from 'muster-agent/testing';
 *
 * const store = memoryStore();
 * await using first = await createMuster({ model: scriptedModel([{ text: 'Noted.' }]), store });
 * const { data } = await first.run('My name is Ada.');
 * await using second = await createMuster({ model: scriptedModel([{ text: 'Ada.' }]), store });
 * console.log((await second.resume(data.task_id, 'What is my name?')).output);
 */
export function memoryStore(): StorePort {
  const logs = new Map<string, StoredLog>();
  const contents = new Map<string, Uint8Array>();
  const find = (id: string): StoredLog => {
    const log = logs.get(id);
    if (log === undefined) throw new MusterError('NOT_FOUND', `there is no task ${id}`);
    return log;
  };
  return {
    async create(task) {
      if (logs.has(task.id)) throw new MusterError('CONFLICT', `task ${task.id} exists`);
      logs.set(task.id, {
        task: { id: task.id, root: task.root, parent: task.parent },
        events: [],
        epoch: 1,
        cancelledEpoch: 0,
        added: deferred(),
      });
    },
    async claim(id) {
      const log = find(id);
      log.epoch += 1;
      return { epoch: log.epoch };
    },
    async append(id, epoch, events) {
      const log = find(id);
      if (epoch !== log.epoch) {
        throw new MusterError(
          'CONFLICT',
          `task ${id} has another owner: its epoch is ${log.epoch}, not ${epoch}`,
        );
      }
      const lines = events.map((event) => JSON.stringify(event));
      const first = events[0]?.seq ?? log.events.length;
      if (isRepeated(log, first, lines)) return { cancelRequested: isCancelled(log) };
      if (first !== log.events.length) {
        const message = `the next event of task ${id} is ${log.events.length}, not ${first}`;
        throw new MusterError('CONFLICT', message);
      }
      log.events.push(...lines);
      log.added.resolve();
      log.added = deferred();
      return { cancelRequested: isCancelled(log) };
    },
    watch: (id, options) => watchLog(() => find(id), options),
    async requestCancel(id) {
      const log = find(id);
      log.cancelledEpoch = log.epoch;
    },
    async list(root) {
      return [...logs.values()].map(({ task }) => task).filter((task) => task.root === root);
    },
    async putBlob(hash, content) {
      contents.set(hash, Uint8Array.from(content));
    },
    async getBlob(hash) {
      const content = contents.get(hash);
      return content === undefined ? null : Uint8Array.from(content);
    },
  };
}

function isRepeated(log: StoredLog, first: number, lines: readonly string[]): boolean {
  return lines.every((line, index) => log.events[first + index] === line);
}

function isCancelled(log: StoredLog): boolean {
  return log.cancelledEpoch === log.epoch;
}

async function* watchLog(
  find: () => StoredLog,
  { fromSeq, follow, signal }: StoreWatchOptions,
): AsyncGenerator<TaskEvent> {
  const log = find();
  const aborted = deferred<void>();
  const stopListening = signal === undefined ? () => {} : onAbort(signal, () => aborted.resolve());
  try {
    let next = fromSeq;
    for (;;) {
      if (signal?.aborted === true) return;
      const { added } = log;
      const line = log.events[next];
      if (line !== undefined) {
        next += 1;
        yield JSON.parse(line);
      } else if (follow) await Promise.race([added.promise, aborted.promise]);
      else return;
    }
  } finally {
    stopListening();
  }
}
