import type { EventBody } from '../protocol/events/event.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { FileTaskLog, type LogContext, type LogPosition } from './log/file-task-log.ts';
import {
  readCreatedEvent,
  inspectLog,
  type LogState,
  type EventVisitor,
} from './log/log-reader.ts';
import { repairLog, moveLogAside } from './log/log-repair.ts';
import { formatLogHeader, type ScanOptions } from './log/log-scanner.ts';
import type { EventStamper } from './log/event-stamper.ts';
import { storageError } from './files/storage-error.ts';
import type { StoreParts } from './store-parts.ts';
import {
  locateMissingSpec,
  taskInUseError,
  taskExistsError,
  missingSpecError,
} from './files/task-ids.ts';
import type { TaskLog, TaskSummary } from './task-store.ts';

/** Gives out logs, each to one owner at a time, and takes them back. */
export class OwnedLogs {
  readonly #parts: StoreParts;
  readonly #host: LogContext;
  readonly #scan: (task: string) => ScanOptions;
  /** The logs that this process owns. */
  readonly #open = new Map<string, FileTaskLog>();

  constructor(parts: StoreParts, stamp: EventStamper, scan: (task: string) => ScanOptions) {
    const { files, descriptors, syncQueue: syncs, blobs } = parts;
    this.#parts = parts;
    this.#scan = scan;
    this.#host = {
      files,
      descriptors,
      syncQueue: syncs,
      stamp,
      putBlob: (text) => blobs.putText(text),
      onSummaryChange: (getSummary) => this.#updateIndex(getSummary),
      onClose: (log) => this.#giveUp(log),
    };
  }

  create(spec: TaskSpec): TaskLog {
    const { id } = spec;
    const { tasks } = this.#parts;
    return this.#takeLog(id, () => {
      tasks.finishDeletion(id);
      if (!tasks.createLog(id)) {
        this.#clearPlace(id);
        if (!tasks.createLog(id)) throw taskExistsError(id);
      }
      const log = this.#newLog(id, { epoch: 1, nextSeq: 0, size: 0, summary: undefined });
      try {
        log.open([{ type: 'task.created', spec }, this.#claimed()], formatLogHeader(id));
      } catch (thrown) {
        tasks.removeLog(id);
        throw thrown;
      }
      return log;
    });
  }

  claim(id: string, visit: EventVisitor): TaskLog {
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
    const { locks, paths, syncQueue: syncs, tasks } = this.#parts;
    const lock = tasks.lockPath(id);
    try {
      const owner = locks.acquire(lock);
      if (owner !== undefined) throw taskInUseError(id, owner.pid);
    } catch (thrown) {
      throw storageError('lock', lock, thrown);
    }
    try {
      const log = take();
      syncs?.addDirectory(paths.tasks);
      this.#open.set(id, log);
      return log;
    } catch (thrown) {
      tasks.closeFiles(id);
      locks.release(lock);
      throw thrown;
    }
  }

  /** Whoever was killed in the middle of the first write left a log, but no task behind. */
  #clearPlace(id: string): void {
    const { files, tasks } = this.#parts;
    const paths = { log: tasks.logPath(id), aside: tasks.damagedLinesPath(id) };
    if (readCreatedEvent(files, paths.log, id) !== undefined) throw taskExistsError(id);
    moveLogAside(files, paths);
  }

  #newLog(id: string, position: LogPosition): FileTaskLog {
    return new FileTaskLog(this.#host, id, this.#parts.tasks.logPath(id), position);
  }

  #reopen(id: string, visit: EventVisitor): FileTaskLog {
    const { files, tasks } = this.#parts;
    const paths = { log: tasks.logPath(id), aside: tasks.damagedLinesPath(id) };
    const state = inspectLog(files, paths.log, this.#scan(id), visit);
    const { nextSeq, goodBytes: size, summary } = state;
    for (const problem of state.problems) this.#parts.problemReporter.add(paths.log, problem);
    if (summary === undefined)
      throw missingSpecError(id, locateMissingSpec(paths.log, state.problems));
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
    const aside = this.#parts.tasks.damagedLinesPath(id);
    return [
      { type: 'warning', message: `damaged lines of this log were moved to ${aside}: ${what}` },
    ];
  }

  #giveUp(log: FileTaskLog): void {
    const { locks, outputQueue: outputs, tasks } = this.#parts;
    outputs.finish(log.id);
    // In this order: whoever finds no lock trusts the index.
    if (log.summary?.ended === null) this.#updateIndex(log.summary);
    this.#open.delete(log.id);
    tasks.closeFiles(log.id);
    locks.release(tasks.lockPath(log.id));
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
