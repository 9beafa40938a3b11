import type { EventBody } from '../protocol/events/event.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { FileTaskLog, type LogHost, type LogPosition } from './log/file-task-log.ts';
import { createdEvent, inspectLog, type LogState, type VisitEvent } from './log/log-reader.ts';
import { repairLog, setLogAside } from './log/log-repair.ts';
import { headerLine, type ScanOptions } from './log/log-scanner.ts';
import type { Stamp } from './log/event-stamper.ts';
import { storageError } from './files/storage-error.ts';
import type { StoreParts } from './store-parts.ts';
import { placeOfLoss, taskInUse, taskTaken, taskWithoutSpec } from './files/task-ids.ts';
import type { TaskLog, TaskSummary } from './task-store.ts';

/** Gives out logs, each to one owner at a time, and takes them back. */
export class LogKeeper {
  readonly #parts: StoreParts;
  readonly #host: LogHost;
  readonly #scan: (task: string) => ScanOptions;
  /** The logs that this process owns. */
  readonly #open = new Map<string, FileTaskLog>();

  constructor(parts: StoreParts, stamp: Stamp, scan: (task: string) => ScanOptions) {
    const { files, descriptors, syncs, blobs } = parts;
    this.#parts = parts;
    this.#scan = scan;
    this.#host = {
      files,
      descriptors,
      syncs,
      stamp,
      putBlob: (text) => blobs.put(text),
      onEnd: (summary) => this.#updateIndex(summary),
      onClose: (log) => this.#giveUp(log),
    };
  }

  create(spec: TaskSpec): TaskLog {
    const { id } = spec;
    const { tasks } = this.#parts;
    return this.#takeLog(id, () => {
      tasks.finishDeletion(id);
      if (!tasks.create(id)) {
        this.#clearPlace(id);
        if (!tasks.create(id)) throw taskTaken(id);
      }
      const log = this.#newLog(id, { epoch: 1, nextSeq: 0, size: 0, summary: undefined });
      try {
        log.open([{ type: 'task.created', spec }, this.#claimed()], headerLine(id));
      } catch (thrown) {
        tasks.remove(id);
        throw thrown;
      }
      return log;
    });
  }

  claim(id: string, visit: VisitEvent): TaskLog {
    const { tasks } = this.#parts;
    tasks.checkExists(id);
    return this.#takeLog(id, () => {
      // Once more: it may have been deleted by the one that had the lock.
      tasks.checkExists(id);
      return this.#reopen(id, visit);
    });
  }

  /** Whether this process owns the log. */
  owns(id: string): boolean {
    return this.#open.has(id);
  }

  /** The summary of a log that this process owns. */
  summary(id: string): TaskSummary | undefined {
    return this.#open.get(id)?.summary;
  }

  close(): void {
    for (const log of this.#open.values()) log.close();
  }

  /** Locks the task, then takes its log with `take`; gives the lock back when that fails. */
  #takeLog(id: string, take: () => FileTaskLog): TaskLog {
    const { locks, paths, syncs, tasks } = this.#parts;
    const lock = tasks.lock(id);
    try {
      const owner = locks.acquire(lock);
      if (owner !== undefined) throw taskInUse(id, owner.pid);
    } catch (thrown) {
      throw storageError('lock', lock, thrown);
    }
    try {
      const log = take();
      syncs?.addDirectory(paths.tasks);
      this.#open.set(id, log);
      return log;
    } catch (thrown) {
      tasks.forget(id);
      locks.release(lock);
      throw thrown;
    }
  }

  /** Whoever was killed in the middle of the first write left a log, but no task behind. */
  #clearPlace(id: string): void {
    const { files, tasks } = this.#parts;
    const paths = { log: tasks.log(id), aside: tasks.damaged(id) };
    if (createdEvent(files, paths.log, id) !== undefined) throw taskTaken(id);
    setLogAside(files, paths);
  }

  #newLog(id: string, position: LogPosition): FileTaskLog {
    return new FileTaskLog(this.#host, id, this.#parts.tasks.log(id), position);
  }

  #reopen(id: string, visit: VisitEvent): FileTaskLog {
    const { files, tasks } = this.#parts;
    const paths = { log: tasks.log(id), aside: tasks.damaged(id) };
    const state = inspectLog(files, paths.log, this.#scan(id), visit);
    const { nextSeq, goodBytes: size, summary } = state;
    for (const problem of state.problems) this.#parts.problems.add(paths.log, problem);
    if (summary === undefined) throw taskWithoutSpec(id, placeOfLoss(paths.log, state.problems));
    repairLog(files, paths, state, this.#scan(id));
    const log = this.#newLog(id, { epoch: state.epoch + 1, nextSeq, size, summary });
    log.open([this.#claimed(), ...this.#notices(id, state)]);
    return log;
  }

  #notices(id: string, state: LogState): readonly EventBody[] {
    if (state.damagedBytes === 0) return [];
    const what = state.problems
      .filter(({ code }) => code === 'damaged' || code === 'fenced')
      .map(({ line, message }) => `line ${line}: ${message}`)
      .join('; ');
    const aside = this.#parts.tasks.damaged(id);
    return [
      { type: 'warning', message: `damaged lines of this log were moved to ${aside}: ${what}` },
    ];
  }

  #giveUp(log: FileTaskLog): void {
    const { locks, outputs, tasks } = this.#parts;
    outputs.finish(log.id);
    // In this order: whoever finds no lock trusts the index.
    if (log.summary?.ended === null) this.#updateIndex(log.summary);
    this.#open.delete(log.id);
    tasks.forget(log.id);
    locks.release(tasks.lock(log.id));
  }

  #updateIndex(summary: TaskSummary): void {
    try {
      this.#parts.index.put([summary]);
    } catch {
      // A cache on a full disk: the log holds the truth, and the next listing reads it there.
    }
  }

  #claimed(): EventBody {
    const { pid, host } = this.#parts.processes.self();
    return { type: 'task.claimed', pid, host };
  }
}
