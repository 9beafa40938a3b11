import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { isId } from '../../base/ids.ts';
import { LogFold } from '../../engine/task/fold-log.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { LogTail, TaskStore } from '../../store/task-store.ts';
import { readTree, readCurrentState } from './read-tree.ts';
import { WatchStart } from './watch-start.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

export interface TreeListener {
  /** Called with each task that exists at the beginning; see `ReadTreeOptions.onTask`. */
  found(state: TaskState): void;
  /** Called with the number of ended tasks that are not read; see `ReadTreeOptions.maxTasks`. */
  passedOver(count: number): void;
  /** Called with each event and the state of its task after it. */
  event(event: TaskEvent, state: TaskState): void;
  /**
   * Called with a task that has no end although its process has ended. Its status is `interrupted` or `parked`.
   */
  left(state: TaskState): void;
}

/** The maximum number of tasks that are read at the beginning. Running tasks are always read. */
const MAX_INITIAL_TASKS = 600;
/** The time between a change of a log and the reading of the log, so that several events are read together. */
const READ_DELAY_MS = 60;
/**
 * The interval of checks of all followed logs, because some network file systems do not report changes.
 */
const CHECK_INTERVAL_MS = 250;
/** The maximum number of logs that one check reads. */
const MAX_LOGS_PER_CHECK = 64;
/**
 * The maximum number of logs that are read without a pause, because a single log can name any number of children.
 */
const MAX_LOGS_PER_READ = 256;
/** The owners of tasks are checked in every n-th check of the logs. */
const CHECKS_PER_OWNER_CHECK = 8;

/** A log that is followed, with the position to which it was read. */
interface FollowedLog {
  readonly tail: LogTail;
  readonly fold: LogFold;
  /** The number of the last event in `fold`, or -1 if `fold` has no events. */
  foldedTo: number;
}

interface NewEvent {
  readonly event: TaskEvent;
  readonly log: FollowedLog;
  /** The time at which the event was written. It is never less than the time of an earlier event of the same log. */
  readonly time: number;
}

/**
 * Follows the task `top` and its descendants, in any process, until `signal` aborts. Does not stop at the end of the
 * task, because the task may be continued. Reads only logs that have changed. Rejects if a log cannot be read.
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
   * The number of the last reported event of each task of the tree, or `before` for a skipped task, whose events from
   * before the start are not reported.
   */
  private readonly reported = new Map<string, number | 'before'>();
  /** The logs of all tasks without an end, and of `top`, by task id. */
  private readonly followed = new Map<string, FollowedLog>();
  /** The ids of tasks whose logs may have grown. */
  private readonly changedIds = new Set<string>();
  /** The ids of tasks that were reported as abandoned: they have no end, and their process has ended. */
  private readonly abandoned = new Set<string>();
  private readonly failed = Promise.withResolvers<never>();
  private readonly start = new WatchStart(systemClock);
  private watcher: FSWatcher | null = null;
  private readTimer: NodeJS.Timeout | null = null;
  private checkTimer: NodeJS.Timeout | null = null;
  private checks = 0;
  /** The position in `followed` at which the next check begins. */
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
    const onTask = (state: TaskState): void => this.addExistingTask(state);
    const skippedIds = await readTree(this.store, this.top, {
      maxTasks: MAX_INITIAL_TASKS,
      onTask,
      signal,
    });
    for (const id of skippedIds) this.reported.set(id, 'before');
    if (skippedIds.length > 0) this.listener.passedOver(skippedIds.length);
    this.changedIds.add(this.top);
    this.readSoon();
    this.checkTimer = setInterval(() => this.runGuarded(() => this.checkLogs()), CHECK_INTERVAL_MS);
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
    if (this.readTimer !== null) clearTimeout(this.readTimer);
    if (this.checkTimer !== null) clearInterval(this.checkTimer);
  }

  private addExistingTask(state: TaskState): void {
    const { id } = state.spec;
    this.reported.set(id, state.lastSeq);
    this.listener.found(state);
    if (isAbandoned(state)) this.abandoned.add(id);
    else if (state.end === null) this.changedIds.add(id);
    // A child that a log names may have no log of its own yet.
    for (const child of state.openChildren) this.addTask(child);
  }

  private watchFiles(): void {
    const log = this.store.logPath(this.top);
    if (log === null) return;
    try {
      this.watcher = watch(dirname(log), (_, name) => {
        if (name === null) for (const id of this.followed.keys()) this.markChanged(id);
        else if (name.endsWith(LOG_SUFFIX)) this.markChanged(basename(name, LOG_SUFFIX));
      });
      this.watcher.on('error', () => {
        // The system has no free watches, or the directory was removed. The checks at intervals continue.
        this.watcher?.close();
      });
    } catch {
      // The watch could not be started, for one of the same reasons.
    }
  }

  private markChanged(id: string): void {
    if (!this.reported.has(id)) return;
    this.changedIds.add(id);
    this.readSoon();
  }

  private addTask(id: string): void {
    if (!isId(id)) return;
    if (!this.reported.has(id)) this.reported.set(id, -1);
    this.changedIds.add(id);
  }

  private readSoon(afterMs = READ_DELAY_MS): void {
    this.readTimer ??= setTimeout(() => {
      this.readTimer = null;
      this.runGuarded(() => this.readChanges());
    }, afterMs);
  }

  /** Runs `work`. If it throws because a log cannot be read, `untilAborted` rejects. */
  private runGuarded(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.failed.reject(thrown);
    }
  }

  /**
   * Reports new events in the order in which they were written. If more than `MAX_LOGS_PER_READ` logs have changed,
   * reads the others soon after.
   */
  private readChanges(): void {
    const newEvents: NewEvent[] = [];
    const ids: string[] = [];
    // The loop also visits ids that are added to the set meanwhile.
    for (const id of this.changedIds) {
      if (ids.length === MAX_LOGS_PER_READ) break;
      this.changedIds.delete(id);
      ids.push(id);
      this.collectNewEvents(id, newEvents);
    }
    if (this.changedIds.size > 0) this.readSoon(0);
    for (const { event, log } of newEvents.toSorted((a, b) => a.time - b.time))
      this.reportEvent(event, log);
    for (const id of ids) if (this.hasEnded(id) && id !== this.top) this.followed.delete(id);
  }

  private collectNewEvents(id: string, newEvents: NewEvent[]): void {
    const last = this.reported.get(id) ?? -1;
    const log = this.followed.get(id) ?? this.openLog(id);
    let hasBegun = log.foldedTo >= 0;
    let time = 0;
    log.tail.read((event) => {
      hasBegun ||= event.type === 'task.created';
      // A log that has lost its beginning describes no task, so its events are skipped.
      if (!hasBegun || event.seq <= log.foldedTo) return;
      if (last === 'before' ? !this.start.includes(event) : event.seq <= last) {
        log.fold.add(event);
        log.foldedTo = event.seq;
        return;
      }
      time = Math.max(time, event.ts);
      newEvents.push({ event, log, time });
      if (event.type === 'child.created' || event.type === 'child.resumed') {
        this.addTask(event.child);
      }
    });
  }

  private reportEvent(event: TaskEvent, log: FollowedLog): void {
    log.fold.add(event);
    log.foldedTo = event.seq;
    this.reported.set(event.task, event.seq);
    this.abandoned.delete(event.task);
    const { state } = log.fold;
    if (state !== null) this.listener.event(event, state);
  }

  private hasEnded(id: string): boolean {
    const state = this.followed.get(id)?.fold.state ?? null;
    return state !== null && state.end !== null;
  }

  private openLog(id: string): FollowedLog {
    const fold = new LogFold((visit) => void this.store.scan(id, visit));
    const log = { tail: this.store.openTail(id), fold, foldedTo: -1 };
    this.followed.set(id, log);
    return log;
  }

  private checkLogs(): void {
    const ids = [...this.followed.keys()];
    const count = Math.min(ids.length, MAX_LOGS_PER_CHECK);
    for (let offset = 0; offset < count; offset += 1) {
      const id = ids[(this.nextCheck + offset) % ids.length];
      if (id !== undefined) this.changedIds.add(id);
    }
    this.nextCheck += count;
    this.checks += 1;
    const idsToCheck = this.checks % CHECKS_PER_OWNER_CHECK === 0 ? [...this.changedIds] : [];
    this.readChanges();
    for (const id of idsToCheck) if (!this.hasEnded(id)) this.reportIfAbandoned(id);
  }

  private reportIfAbandoned(id: string): void {
    if (this.abandoned.has(id) || this.store.getOwner(id) !== null) return;
    const state = readCurrentState(this.store, id);
    // Events that were written meanwhile are reported first.
    if (state === null || !isAbandoned(state) || state.lastSeq !== this.reported.get(id)) return;
    this.abandoned.add(id);
    if (id !== this.top) this.followed.delete(id);
    this.listener.left(state);
  }
}

const LOG_SUFFIX = '.jsonl';

/**
 * Checks whether a task has no end although its process has ended. For a parked task, the caller must have checked that
 * it has no owner.
 */
function isAbandoned({ end, status }: TaskState): boolean {
  return end === null && (status === 'interrupted' || status === 'parked');
}
