import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { isId } from '../../base/ids.ts';
import { LogFold } from '../../engine/task/fold-log.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { LogTail, TaskStore } from '../../store/task-store.ts';
import { readTree, currentState } from './read-tree.ts';
import { WatchStart } from './watch-start.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

export interface TreeListener {
  /** Called with each task that exists when the following begins; see `ReadTreeOptions.found`. */
  found(state: TaskState): void;
  /** Called with the number of ended tasks that are only counted; see `ReadTreeOptions.most`. */
  passedOver(count: number): void;
  /** Called with each event and the state of its task after it. */
  event(event: TaskEvent, state: TaskState): void;
  /**
   * Called with a task without an end whose process is gone. Its status is `interrupted` or `parked`.
   */
  left(state: TaskState): void;
}

/** The maximum number of tasks that are read when the following begins. Running ones are always read. */
const MAX_READ = 600;
/** Events that are written in this time are read together. */
const READ_DELAY_MS = 60;
/**
 * The interval of checks of running logs, for file systems that report no changes (some network file systems).
 */
const CHECK_INTERVAL_MS = 250;
/** The maximum number of logs that one check reads. */
const MAX_CHECKS = 64;
/**
 * The maximum number of logs that are read without a pause, since one log can announce any number of children.
 */
const MAX_AT_ONCE = 256;
/** The number of checks after which the owners of tasks are checked. */
const CHECKS_PER_OWNER_CHECK = 8;

/** A log with the position to which it was read. */
interface Followed {
  readonly tail: LogTail;
  readonly fold: LogFold;
  /** The number of the last event in `fold`, or -1. */
  foldedTo: number;
}

interface News {
  readonly event: TaskEvent;
  readonly one: Followed;
  /** The time of its writing, never before that of an earlier event of the same log. */
  readonly at: number;
}

/**
 * Follows a task with its descendants, in any process, until `signal` aborts: also after the end of the task, which may
 * continue. Reads only logs that have changed. Rejects if a log cannot be read.
 */
export async function followTree(
  store: TaskStore,
  top: string,
  { listener, signal }: { readonly listener: TreeListener; readonly signal: AbortSignal },
): Promise<void> {
  const follow = new TreeFollow(store, top, listener);
  try {
    await follow.begin(signal);
    await follow.untilAborted(signal);
  } finally {
    follow.stop();
  }
}

class TreeFollow {
  private readonly store: TaskStore;
  private readonly top: string;
  private readonly listener: TreeListener;
  /**
   * The number of the last reported event of each task of the tree, or `before` for a task whose present content is
   * not reported.
   */
  private readonly reported = new Map<string, number | 'before'>();
  /** Tasks without an end, and the root. */
  private readonly followed = new Map<string, Followed>();
  /** Tasks whose logs may have grown. */
  private readonly dirty = new Set<string>();
  /** Tasks whose processes are known to be gone. */
  private readonly left = new Set<string>();
  private readonly failed = Promise.withResolvers<never>();
  private readonly since = new WatchStart(systemClock);
  private watcher: FSWatcher | null = null;
  private gathering: NodeJS.Timeout | null = null;
  private looking: NodeJS.Timeout | null = null;
  private checks = 0;
  /** The position at which the next check begins. */
  private nextCheck = 0;

  constructor(store: TaskStore, top: string, listener: TreeListener) {
    this.store = store;
    this.top = top;
    this.listener = listener;
    this.failed.promise.catch(() => {
      // `untilAborted` reports the failure when all logs have been read.
    });
  }

  async begin(signal: AbortSignal): Promise<void> {
    // Watch the files before the first log is read, so that no change is missed.
    this.watchFiles();
    const found = (state: TaskState): void => this.find(state);
    const passedOver = await readTree(this.store, this.top, { most: MAX_READ, found, signal });
    for (const id of passedOver) this.reported.set(id, 'before');
    if (passedOver.length > 0) this.listener.passedOver(passedOver.length);
    this.dirty.add(this.top);
    this.readSoon();
    this.looking = setInterval(() => this.guarded(() => this.look()), CHECK_INTERVAL_MS);
  }

  untilAborted(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return Promise.race([aborted, this.failed.promise]);
  }

  stop(): void {
    this.watcher?.close();
    if (this.gathering !== null) clearTimeout(this.gathering);
    if (this.looking !== null) clearInterval(this.looking);
  }

  private find(state: TaskState): void {
    const { id } = state.spec;
    this.reported.set(id, state.lastSeq);
    this.listener.found(state);
    if (isLeft(state)) this.left.add(id);
    else if (state.end === null) this.dirty.add(id);
    // A child that was announced may have no log yet.
    for (const child of state.openChildren) this.include(child);
  }

  private watchFiles(): void {
    const log = this.store.logPath(this.top);
    if (log === null) return;
    try {
      this.watcher = watch(dirname(log), (_, name) => {
        if (name === null) for (const id of this.followed.keys()) this.changed(id);
        else if (name.endsWith(LOG_ENDING)) this.changed(basename(name, LOG_ENDING));
      });
      this.watcher.on('error', () => {
        // The system has no free watches, or the directory is gone. The checks at intervals continue.
        this.watcher?.close();
      });
    } catch {
      // The watch failed for the same reasons at its start.
    }
  }

  private changed(id: string): void {
    if (!this.reported.has(id)) return;
    this.dirty.add(id);
    this.readSoon();
  }

  private include(id: string): void {
    if (!isId(id)) return;
    if (!this.reported.has(id)) this.reported.set(id, -1);
    this.dirty.add(id);
  }

  private readSoon(afterMs = READ_DELAY_MS): void {
    this.gathering ??= setTimeout(() => {
      this.gathering = null;
      this.guarded(() => this.read());
    }, afterMs);
  }

  /** Does some work. A log that cannot be read any more ends the following. */
  private guarded(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.failed.reject(thrown);
    }
  }

  /**
   * Reports new events in the order in which they were written. If very many logs changed, reads a part of them, and
   * the rest soon after.
   */
  private read(): void {
    const news: News[] = [];
    const ids: string[] = [];
    // The loop also visits ids that are added to the set meanwhile.
    for (const id of this.dirty) {
      if (ids.length === MAX_AT_ONCE) break;
      this.dirty.delete(id);
      ids.push(id);
      this.gather(id, news);
    }
    if (this.dirty.size > 0) this.readSoon(0);
    for (const { event, one } of news.toSorted((a, b) => a.at - b.at)) this.report(event, one);
    for (const id of ids) if (this.hasEnded(id) && id !== this.top) this.followed.delete(id);
  }

  private gather(id: string, news: News[]): void {
    const last = this.reported.get(id) ?? -1;
    const one = this.followed.get(id) ?? this.follow(id);
    let hasBegun = one.foldedTo >= 0;
    let at = 0;
    one.tail.read((event) => {
      hasBegun ||= event.type === 'task.created';
      // A log that has lost its beginning describes no task, so its events are skipped.
      if (!hasBegun || event.seq <= one.foldedTo) return;
      if (last === 'before' ? !this.since.includes(event) : event.seq <= last) {
        one.fold.add(event);
        one.foldedTo = event.seq;
        return;
      }
      at = Math.max(at, event.ts);
      news.push({ event, one, at });
      if (event.type === 'child.created' || event.type === 'child.resumed') {
        this.include(event.child);
      }
    });
  }

  private report(event: TaskEvent, one: Followed): void {
    one.fold.add(event);
    one.foldedTo = event.seq;
    this.reported.set(event.task, event.seq);
    this.left.delete(event.task);
    const { state } = one.fold;
    if (state !== null) this.listener.event(event, state);
  }

  private hasEnded(id: string): boolean {
    const state = this.followed.get(id)?.fold.state ?? null;
    return state !== null && state.end !== null;
  }

  private follow(id: string): Followed {
    const fold = new LogFold((visit) => void this.store.scan(id, visit));
    const one = { tail: this.store.openTail(id), fold, foldedTo: -1 };
    this.followed.set(id, one);
    return one;
  }

  private look(): void {
    const ids = [...this.followed.keys()];
    const some = Math.min(ids.length, MAX_CHECKS);
    for (let looked = 0; looked < some; looked += 1) {
      const id = ids[(this.nextCheck + looked) % ids.length];
      if (id !== undefined) this.dirty.add(id);
    }
    this.nextCheck += some;
    this.checks += 1;
    const asked = this.checks % CHECKS_PER_OWNER_CHECK === 0 ? [...this.dirty] : [];
    this.read();
    for (const id of asked) if (!this.hasEnded(id)) this.reportIfLeft(id);
  }

  private reportIfLeft(id: string): void {
    if (this.left.has(id) || this.store.getOwner(id) !== null) return;
    const state = currentState(this.store, id);
    // Events that were written meanwhile are reported first.
    if (state === null || !isLeft(state) || state.lastSeq !== this.reported.get(id)) return;
    this.left.add(id);
    if (id !== this.top) this.followed.delete(id);
    this.listener.left(state);
  }
}

const LOG_ENDING = '.jsonl';

/**
 * Returns whether a task without an end has no process. For a parked task, the caller has checked the owner.
 */
function isLeft({ end, status }: TaskState): boolean {
  return end === null && (status === 'interrupted' || status === 'parked');
}
