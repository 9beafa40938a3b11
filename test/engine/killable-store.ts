import type { EventBody, TaskEvent } from '../../src/protocol/events/event.ts';
import type { TaskSpec } from '../../src/protocol/task.ts';
import type { TaskLog, TaskStore } from '../../src/store/task-store.ts';

/** The death of a process: in the middle of this batch of events, of which only some are written. */
export interface Death {
  /** The number of the batch, counted over all logs, from 1. */
  readonly batch: number;
  /** True if only batches of several events count. */
  readonly several: boolean;
  /** The number of events of the batch that are written to the log. */
  readonly kept: number;
}

/** The numbers of written batches, over all logs. */
export interface BatchCount {
  all: number;
  /** The number of batches of several events. */
  several: number;
}

class Killed extends Error {}

/**
 * A store as seen by a process that will be killed. After its death nothing more is written and its promises never
 * settle. The events written before stay in the inner store, and their logs have no owner any more.
 */
export class KillableStore {
  readonly store: TaskStore;
  isDead = false;
  readonly batches: BatchCount = { all: 0, several: 0 };
  private readonly logs = new Set<TaskLog>();
  private readonly inner: TaskStore;
  private readonly death: Death | null;
  private readonly disk: () => Promise<void>;

  /** @param disk waits for the disk */
  constructor(inner: TaskStore, death: Death | null, disk: () => Promise<void>) {
    this.inner = inner;
    this.death = death;
    this.disk = disk;
    this.store = new Proxy(inner, { get: (_, name) => this.member(name) });
  }

  private member(name: string | symbol): unknown {
    if (name === 'create') return (spec: TaskSpec) => this.open(() => this.inner.create(spec));
    if (name === 'claim') {
      return (id: string, visit?: (event: TaskEvent) => void) =>
        this.open(() => this.inner.claim(id, visit));
    }
    const member: unknown = Reflect.get(this.inner, name);
    return typeof member === 'function' ? member.bind(this.inner) : member;
  }

  private open(take: () => TaskLog): TaskLog {
    if (this.isDead) throw new Killed();
    const dies = this.dies(1);
    if (dies && this.death?.kept === 0) throw this.die();
    const log = take();
    this.logs.add(log);
    if (dies) throw this.die();
    return {
      id: log.id,
      epoch: log.epoch,
      opening: log.opening,
      append: (bodies) => this.append(log, bodies),
      sync: async () => {
        await this.disk();
        await log.sync();
      },
      close: () => {
        this.logs.delete(log);
        log.close();
      },
    };
  }

  private append(log: TaskLog, bodies: readonly EventBody[]): readonly TaskEvent[] {
    if (this.isDead) throw new Killed();
    if (!this.dies(bodies.length)) return log.append(bodies);
    const kept = bodies.slice(0, this.death?.kept ?? 0);
    if (kept.length > 0) log.append(kept);
    throw this.die();
  }

  private dies(events: number): boolean {
    const { batches, death } = this;
    batches.all += 1;
    if (events > 1) batches.several += 1;
    else if (death?.several === true) return false;
    return death?.batch === (death?.several === true ? batches.several : batches.all);
  }

  private die(): Killed {
    this.isDead = true;
    for (const log of this.logs) log.close();
    return new Killed();
  }
}
