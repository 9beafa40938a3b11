import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import { isId } from '../../base/ids.ts';
import { LogFold } from '../../engine/task/fold-log.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { LogTail, TaskStore } from '../../store/task-store.ts';
import { WatchStart } from './watch-start.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The interval at which logs are read. A change is reported within two intervals. */
const POLL_INTERVAL_MS = 60;

export interface WatchListener {
  /** Called with each running task when the watch begins. */
  atWork(state: TaskState): void;
  /** Called with each event and the state of its task after it. */
  event(event: TaskEvent, state: TaskState): void;
  /** Called with a task that has no end although its process has ended. */
  left(state: TaskState): void;
}

/**
 * The reason for the end of a watch: the task has ended (`ended`), its process has ended without it (`left`), or the
 * caller aborted the watch.
 */
export type WatchEnd = 'ended' | 'left' | 'aborted';

interface WatchedLog {
  readonly id: string;
  readonly tail: LogTail;
  readonly fold: LogFold;
  /** The token of the process that owned the task when the log was opened, or null. */
  readonly owner: string | null;
}

interface NewEvent {
  readonly event: TaskEvent;
  readonly fold: LogFold;
}

/** The options of a watch. */
export interface WatchOptions {
  readonly listener: WatchListener;
  readonly signal: AbortSignal;
  /**
   * The number of an event of the watched task: this event and all later ones are reported first, with the events that tasks
   * below it have written since the event before. Default: only events from now on.
   */
  readonly from?: number;
}

/**
 * Follows tasks in any process by reading what is added to their logs. Follows the task `top` with its descendants
 * until it ends. If `top` is null, follows all running and new tasks until `signal` aborts.
 */
export async function watchTasks(
  store: TaskStore,
  top: string | null,
  { listener, signal, from }: WatchOptions,
): Promise<WatchEnd> {
  const watch = new Watch(store, top, listener);
  const begin = () =>
    top === null || from === undefined ? watch.begin() : watch.beginFrom(top, from);
  for (let end = begin(); ; end = watch.poll()) {
    if (end !== null) return end;
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return 'aborted';
  }
}

class Watch {
  private readonly store: TaskStore;
  private readonly top: string | null;
  private readonly listener: WatchListener;
  private readonly logs = new Map<string, WatchedLog>();
  /** The number of the last event of each task that was reported or skipped. */
  private readonly lastSeqs = new Map<string, number>();
  /** The start of the watch. Earlier events are skipped. */
  private start = new WatchStart(systemClock);
  private locked: readonly string[] = [];

  constructor(store: TaskStore, top: string | null, listener: WatchListener) {
    this.store = store;
    this.top = top;
    this.listener = listener;
  }

  /** Opens the logs and skips their current content. Returns a reason if the watch ends at once. */
  begin(): WatchEnd | null {
    const initialIds = this.top === null ? this.listNewTasks() : [this.top];
    const ids = new Set(initialIds);
    for (const id of ids) {
      if (!isId(id)) continue;
      const { fold, tail } = this.openLog(id);
      tail.read((event) => this.skipEvent(fold, event));
      for (const child of fold.state?.openChildren ?? []) ids.add(child);
    }
    const end = this.findEnd();
    if (end !== null) return end;
    for (const state of this.listStates()) {
      if (state.end === null) this.listener.atWork(state);
      else this.logs.delete(state.spec.id);
    }
    return null;
  }

  /** Reports the events of the watched task from a number on, and what tasks below it have written since the event before. */
  beginFrom(top: string, from: number): WatchEnd | null {
    let before = 0;
    this.store.scan(top, ({ seq, ts }) => {
      if (seq < from) before = ts;
    });
    this.start = new WatchStart(systemClock, before);
    this.lastSeqs.set(top, from - 1);
    this.openLog(top);
    return this.poll();
  }

  /** Reports new events in the order in which they were written. Returns the reason if the watch ends. */
  poll(): WatchEnd | null {
    this.reportNewEvents();
    if (this.top === null) this.reportAbandoned();
    return this.findEnd();
  }

  private listStates(): readonly TaskState[] {
    return [...this.logs.values()]
      .flatMap(({ fold }) => fold.state ?? [])
      .toSorted((a, b) => a.createdAt - b.createdAt);
  }

  private reportNewEvents(): void {
    const newEvents: NewEvent[] = [];
    const ids = new Set(this.listNewTasks());
    for (const log of this.logs.values()) this.readNewEvents(log, newEvents, ids);
    // This loop also visits the ids that it adds to the set.
    for (const id of ids) {
      if (this.logs.has(id) || !isId(id)) continue;
      const log = this.openLog(id);
      this.readNewEvents(log, newEvents, ids);
      for (const child of log.fold.state?.openChildren ?? []) ids.add(child);
    }
    for (const { event, fold } of newEvents.toSorted((a, b) => a.event.ts - b.event.ts)) {
      if (!addToFold(fold, event) || fold.state === null) continue;
      this.lastSeqs.set(event.task, event.seq);
      this.listener.event(event, fold.state);
      if (event.type === 'task.ended') ids.add(event.task);
    }
    for (const id of ids) if (this.hasEnded(id) && id !== this.top) this.logs.delete(id);
  }

  /** Adds the new events of a log to `newEvents` and their children to `ids`, and skips the other events. */
  private readNewEvents(
    { id, tail, fold }: WatchedLog,
    newEvents: NewEvent[],
    ids: Set<string>,
  ): void {
    const last = this.lastSeqs.get(id);
    let isNew = false;
    tail.read((event) => {
      isNew ||= last === undefined ? this.start.includes(event) : event.seq > last;
      if (!isNew) return this.skipEvent(fold, event);
      newEvents.push({ event, fold });
      if (event.type === 'child.created' || event.type === 'child.resumed') ids.add(event.child);
    });
  }

  private skipEvent(fold: LogFold, event: TaskEvent): void {
    if (addToFold(fold, event)) this.lastSeqs.set(event.task, event.seq);
  }

  private hasEnded(id: string): boolean {
    const state = this.logs.get(id)?.fold.state ?? null;
    return state !== null && state.end !== null;
  }

  private openLog(id: string): WatchedLog {
    const owner = this.store.getOwner(id)?.token ?? null;
    const fold = new LogFold((visit) => void this.store.scan(id, visit));
    const log = { id, tail: this.store.openTail(id), fold, owner };
    this.logs.set(id, log);
    return log;
  }

  /** Returns the ids of running tasks that are not followed yet; none if a single task is watched. */
  private listNewTasks(): readonly string[] {
    if (this.top !== null) return [];
    const locked = this.store.listLocked();
    if (locked === this.locked) return [];
    this.locked = locked;
    return locked.filter((id) => !this.logs.has(id) && this.store.getOwner(id) !== null);
  }

  private findEnd(): WatchEnd | null {
    if (this.top === null) return null;
    if (this.hasEnded(this.top)) return 'ended';
    if (this.store.getOwner(this.top) !== null) return null;
    // Read the log again: an owner writes the end before it releases the log.
    this.reportNewEvents();
    return this.hasEnded(this.top) ? 'ended' : 'left';
  }

  /**
   * Reports tasks whose processes have ended. Checks one task of each process first, because that is usually enough.
   */
  private reportAbandoned(): void {
    const byProcess = Map.groupBy(this.logs.values(), ({ owner }) => owner);
    for (const group of byProcess.values()) {
      const [first] = group;
      if (first === undefined || this.store.getOwner(first.id) !== null) continue;
      const unowned = group.filter(({ id }) => this.store.getOwner(id) === null);
      // Read the logs again: an owner writes the end before it releases the log.
      this.reportNewEvents();
      for (const { id, fold } of unowned) {
        // Skip a task that is just being created, which has no owner yet.
        if (fold.state === null || !this.logs.delete(id)) continue;
        const { status } = fold.state;
        this.listener.left({
          ...fold.state,
          status: status === 'parked' ? status : 'interrupted',
        });
      }
    }
  }
}

/** Adds an event to a fold. Returns false if the log has lost its beginning. */
function addToFold(fold: LogFold, event: TaskEvent): boolean {
  if (fold.state === null && event.type !== 'task.created') return false;
  fold.add(event);
  return true;
}
