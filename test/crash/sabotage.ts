import { LOG_VERSION, type EventBody, type TaskEvent } from '../../src/protocol/events/event.ts';
import type { TaskLog, TaskStore } from '../../src/store/task-store.ts';
import { STILL_CLOCK } from './engine-run.ts';

/** A store that breaks one promise, and what it did. */
export interface Saboteur {
  wrap(store: TaskStore): TaskStore;
  /** Answered as written when they were not. */
  readonly unwritten: readonly TaskEvent[];
  /** Batches, or syncs, that it was asked for. */
  asked(): number;
}

/** Answers the batch with this number (from 0, over all logs) as written and never writes it. */
export function losingBatch(number: number): Saboteur {
  return sabotagingBatch(number, () => {});
}

/** Answers the batch with this number as written, and writes it before whatever comes next. */
export function delayingBatch(number: number): Saboteur {
  return sabotagingBatch(number, (write, later) => later(write));
}

function sabotagingBatch(
  number: number,
  treat: (write: () => void, later: (write: () => void) => void) => void,
): Saboteur {
  const unwritten: TaskEvent[] = [];
  let count = 0;
  const wrapLog = (log: TaskLog): TaskLog => {
    let nextSeq = log.opening.length;
    let owed = (): void => {};
    const pay = (): void => {
      owed();
      owed = () => {};
    };
    const append = (bodies: readonly EventBody[]): readonly TaskEvent[] => {
      pay();
      const isVictim = count === number;
      count += 1;
      if (!isVictim) {
        const events = log.append(bodies);
        nextSeq += events.length;
        return events;
      }
      treat(
        () => void log.append(bodies),
        (write) => (owed = write),
      );
      const events = bodies.map((body, index) => stamped(log, nextSeq + index, body));
      nextSeq += events.length;
      unwritten.push(...events);
      return events;
    };
    const sync = (): Promise<void> => {
      pay();
      return log.sync();
    };
    const close = (): void => {
      pay();
      log.close();
    };
    return { id: log.id, epoch: log.epoch, opening: log.opening, append, sync, close };
  };
  return { wrap: (store) => withLogs(store, wrapLog), unwritten, asked: () => count };
}

/** Leaves out the sync with this number (from 0, over all logs) and says that it is done. */
export function losingSync(number: number): Saboteur {
  let count = 0;
  const wrapLog = (log: TaskLog): TaskLog => ({
    id: log.id,
    epoch: log.epoch,
    opening: log.opening,
    append: (bodies) => log.append(bodies),
    sync: () => {
      const isVictim = count === number;
      count += 1;
      return isVictim ? Promise.resolve() : log.sync();
    },
    close: () => log.close(),
  });
  return { wrap: (store) => withLogs(store, wrapLog), unwritten: [], asked: () => count };
}

function stamped(log: TaskLog, seq: number, body: EventBody): TaskEvent {
  return { v: LOG_VERSION, seq, ts: STILL_CLOCK.now(), task: log.id, epoch: log.epoch, ...body };
}

/** The same store but for the logs that it gives out. */
function withLogs(store: TaskStore, wrap: (log: TaskLog) => TaskLog): TaskStore {
  const given: Pick<TaskStore, 'create' | 'claim'> = {
    create: (spec) => wrap(store.create(spec)),
    claim: (id) => wrap(store.claim(id)),
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'create' || name === 'claim') return given[name];
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
