import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import { isId } from '../../base/ids.ts';
import { LogFold } from '../../engine/task/fold-log.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { LogTail, TaskStore } from '../../store/task-store.ts';
import { WatchStart } from './watch-start.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** A change is reported within two of these. */
const POLL_MS = 60;

export interface WatchListener {
  /** Called with each running task when the watch begins. */
  atWork(state: TaskState): void;
  /** Called with each event and the state of its task after it. */
  event(event: TaskEvent, state: TaskState): void;
  /** Called with a task without an end whose process is gone. */
  left(state: TaskState): void;
}

/**
 * The reason for the end of a watch: its task has ended or has lost its process, or the caller aborted.
 */
export type WatchEnd = 'ended' | 'left' | 'aborted';

interface Followed {
  readonly id: string;
  readonly tail: LogTail;
  readonly fold: LogFold;
  /** The token of the process that works on it. */
  readonly owner: string | null;
}

interface News {
  readonly event: TaskEvent;
  readonly fold: LogFold;
}

/**
 * Follows tasks by the growth of their logs, in any process: a task with its descendants to its end or, if `top` is
 * null, every running and new task, until `signal` aborts.
 */
export async function watchTasks(
  store: TaskStore,
  top: string | null,
  { listener, signal }: { readonly listener: WatchListener; readonly signal: AbortSignal },
): Promise<WatchEnd> {
  const watch = new Watch(store, top, listener);
  for (let end = watch.begin(); ; end = watch.poll()) {
    if (end !== null) return end;
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return 'aborted';
  }
}

class Watch {
  private readonly store: TaskStore;
  private readonly top: string | null;
  private readonly listener: WatchListener;
  private readonly followed = new Map<string, Followed>();
  /** The number of the last event of each task that was reported or skipped. */
  private readonly shown = new Map<string, number>();
  /** The start of the watch. Earlier events are skipped. */
  private readonly since = new WatchStart(systemClock);
  private locked: readonly string[] = [];

  constructor(store: TaskStore, top: string | null, listener: WatchListener) {
    this.store = store;
    this.top = top;
    this.listener = listener;
  }

  /** Skips the present content of the logs. */
  begin(): WatchEnd | null {
    const first = this.top === null ? this.newlyLocked() : [this.top];
    const ids = new Set(first);
    for (const id of ids) {
      if (!isId(id)) continue;
      const { fold, tail } = this.follow(id);
      tail.read((event) => this.passOver(fold, event));
      for (const child of fold.state?.openChildren ?? []) ids.add(child);
    }
    const end = this.endOfTop();
    if (end !== null) return end;
    for (const state of this.states()) {
      if (state.end === null) this.listener.atWork(state);
      else this.followed.delete(state.spec.id);
    }
    return null;
  }

  /** Reports new events in the order in which they were written. */
  poll(): WatchEnd | null {
    this.showNews();
    if (this.top === null) this.dropLeft();
    return this.endOfTop();
  }

  private states(): readonly TaskState[] {
    return [...this.followed.values()]
      .flatMap(({ fold }) => fold.state ?? [])
      .toSorted((a, b) => a.createdAt - b.createdAt);
  }

  private showNews(): void {
    const news: News[] = [];
    const begun = new Set(this.newlyLocked());
    for (const one of this.followed.values()) this.read(one, news, begun);
    // A set that grows while it is gone through is gone through to its end.
    for (const id of begun) {
      if (this.followed.has(id) || !isId(id)) continue;
      const one = this.follow(id);
      this.read(one, news, begun);
      for (const child of one.fold.state?.openChildren ?? []) begun.add(child);
    }
    for (const { event, fold } of news.toSorted((a, b) => a.event.ts - b.event.ts)) {
      if (!apply(fold, event) || fold.state === null) continue;
      this.shown.set(event.task, event.seq);
      this.listener.event(event, fold.state);
      if (event.type === 'task.ended') begun.add(event.task);
    }
    for (const id of begun) if (this.hasEnded(id) && id !== this.top) this.followed.delete(id);
  }

  /** Gathers the new events of a log, and skips the others. */
  private read({ id, tail, fold }: Followed, news: News[], begun: Set<string>): void {
    const last = this.shown.get(id);
    let isNew = false;
    tail.read((event) => {
      isNew ||= last === undefined ? this.since.includes(event) : event.seq > last;
      if (!isNew) return this.passOver(fold, event);
      news.push({ event, fold });
      if (event.type === 'child.created' || event.type === 'child.resumed') begun.add(event.child);
    });
  }

  private passOver(fold: LogFold, event: TaskEvent): void {
    if (apply(fold, event)) this.shown.set(event.task, event.seq);
  }

  private hasEnded(id: string): boolean {
    const state = this.followed.get(id)?.fold.state ?? null;
    return state !== null && state.end !== null;
  }

  private follow(id: string): Followed {
    const owner = this.store.getOwner(id)?.token ?? null;
    const fold = new LogFold((visit) => void this.store.scan(id, visit));
    const one = { id, tail: this.store.openTail(id), fold, owner };
    this.followed.set(id, one);
    return one;
  }

  /** Returns running tasks that are not followed yet. None if one tree is watched. */
  private newlyLocked(): readonly string[] {
    if (this.top !== null) return [];
    const locked = this.store.listLocked();
    if (locked === this.locked) return [];
    this.locked = locked;
    return locked.filter((id) => !this.followed.has(id) && this.store.getOwner(id) !== null);
  }

  private endOfTop(): WatchEnd | null {
    if (this.top === null) return null;
    if (this.hasEnded(this.top)) return 'ended';
    if (this.store.getOwner(this.top) !== null) return null;
    // Its end is written before it is given up.
    this.showNews();
    return this.hasEnded(this.top) ? 'ended' : 'left';
  }

  /** Reports tasks whose processes are gone. One task of each process is enough to check it. */
  private dropLeft(): void {
    const byProcess = Map.groupBy(this.followed.values(), ({ owner }) => owner);
    for (const group of byProcess.values()) {
      const [first] = group;
      if (first === undefined || this.store.getOwner(first.id) !== null) continue;
      const free = group.filter(({ id }) => this.store.getOwner(id) === null);
      // Their ends are written before they are given up.
      this.showNews();
      for (const { id, fold } of free) {
        // One that is about to be made has no owner yet.
        if (fold.state === null || !this.followed.delete(id)) continue;
        const { status } = fold.state;
        this.listener.left({
          ...fold.state,
          status: status === 'parked' ? status : 'interrupted',
        });
      }
    }
  }
}

/** Adds an event. Returns false for a log that has lost its beginning. */
function apply(fold: LogFold, event: TaskEvent): boolean {
  if (fold.state === null && event.type !== 'task.created') return false;
  fold.add(event);
  return true;
}
