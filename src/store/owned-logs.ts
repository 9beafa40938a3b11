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
import { storageError } from './files/file-port.ts';
import type { StoreParts } from './store-parts.ts';
import {
  locateMissingSpec,
  taskInUseError,
  taskExistsError,
  missingSpecError,
} from './files/task-files.ts';
import type { TaskLog, TaskSummary } from './task-store.ts';

/** The logs that this process owns. A log has at most one owner at a time, in all processes. */
export class OwnedLogs {
  readonly #parts: StoreParts;
  readonly #context: LogContext;
  readonly #getScanOptions: (task: string) => ScanOptions;
  /** The open logs by task id. */
  readonly #open = new Map<string, FileTaskLog>();

  constructor(
    parts: StoreParts,
    stamp: EventStamper,
    getScanOptions: (task: string) => ScanOptions,
  ) {
    this.#parts = parts;
    this.#getScanOptions = getScanOptions;
    this.#context = {
      ...parts,
      stamp,
      putBlob: (text) => parts.blobs.putText(text),
      onSummaryChange: (summary) => this.#updateIndex(summary),
      onClose: (log) => this.#release(log),
    };
  }

  create(spec: TaskSpec): TaskLog {
    const { id } = spec;
    const { tasks } = this.#parts;
    return this.#lockAndOpen(id, () => {
      tasks.finishDeletion(id);
      if (!tasks.createLog(id)) {
        this.#removeUnfinishedLog(id);
        if (!tasks.createLog(id)) throw taskExistsError(id);
      }
      const log = this.#newLog(id, { epoch: 1, nextSeq: 0, size: 0, summary: undefined });
      try {
        log.open([{ type: 'task.created', spec }, this.#createClaimedEvent()], formatLogHeader(id));
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
    return this.#lockAndOpen(id, () => {
      // Check again, because the previous holder of the lock may have deleted the task.
      tasks.checkExists(id);
      return this.#reopen(id, visit);
    });
  }

  /** Checks whether this process owns the log. */
  isOwned(id: string): boolean {
    return this.#open.has(id);
  }

  /** Returns the summary of a log that this process owns. */
  getSummary(id: string): TaskSummary | undefined {
    return this.#open.get(id)?.summary;
  }

  close(): void {
    for (const log of this.#open.values()) log.close();
  }

  /** Locks the task, then opens its log with `open`. Releases the lock if opening fails. */
  #lockAndOpen(id: string, open: () => FileTaskLog): TaskLog {
    const { locks, paths, syncQueue, tasks } = this.#parts;
    const lock = tasks.lockPath(id);
    try {
      const owner = locks.acquire(lock);
      if (owner !== undefined) throw taskInUseError(id, owner.pid);
    } catch (thrown) {
      throw storageError('lock', lock, thrown);
    }
    try {
      const log = open();
      syncQueue?.addDirectory(paths.tasks);
      this.#open.set(id, log);
      return log;
    } catch (thrown) {
      tasks.closeFiles(id);
      locks.release(lock);
      throw thrown;
    }
  }

  /** Removes a log without a `task.created` event, left by a process that was killed during its first write. */
  #removeUnfinishedLog(id: string): void {
    const { files, tasks } = this.#parts;
    const paths = { log: tasks.logPath(id), damaged: tasks.damagedLinesPath(id) };
    if (readCreatedEvent(files, paths.log, id) !== undefined) throw taskExistsError(id);
    moveLogAside(files, paths);
  }

  #newLog(id: string, position: LogPosition): FileTaskLog {
    return new FileTaskLog(this.#context, id, this.#parts.tasks.logPath(id), position);
  }

  #reopen(id: string, visit: EventVisitor): FileTaskLog {
    const { files, tasks } = this.#parts;
    const paths = { log: tasks.logPath(id), damaged: tasks.damagedLinesPath(id) };
    const state = inspectLog(files, paths.log, this.#getScanOptions(id), visit);
    const { nextSeq, goodBytes: size, summary } = state;
    for (const problem of state.problems) this.#parts.problemReporter.add(paths.log, problem);
    if (summary === undefined)
      throw missingSpecError(id, locateMissingSpec(paths.log, state.problems));
    repairLog(files, paths, state, this.#getScanOptions(id));
    const log = this.#newLog(id, { epoch: state.epoch + 1, nextSeq, size, summary });
    log.open([this.#createClaimedEvent(), ...this.#listWarnings(id, state)]);
    return log;
  }

  #listWarnings(id: string, state: LogState): readonly EventBody[] {
    if (state.damagedBytes === 0) return [];
    const problems = state.problems
      .filter(({ code }) => code === 'damaged' || code === 'fenced')
      .map(({ line, message }) => `line ${line}: ${message}`)
      .join('; ');
    const path = this.#parts.tasks.damagedLinesPath(id);
    const message = `damaged lines of this log were moved to ${path}: ${problems}`;
    return [{ type: 'warning', message }];
  }

  #release(log: FileTaskLog): void {
    const { locks, outputQueue, tasks } = this.#parts;
    outputQueue.finish(log.id);
    // Update the index before releasing the lock, because a process that finds no lock trusts the index.
    if (log.summary?.ended === null) this.#updateIndex(log.summary);
    this.#open.delete(log.id);
    tasks.closeFiles(log.id);
    locks.release(tasks.lockPath(log.id));
  }

  #updateIndex(summary: TaskSummary): void {
    try {
      this.#parts.index.put([summary]);
    } catch {
      // The index is a cache, and the disk may be full: the next listing reads the log.
    }
  }

  #createClaimedEvent(): EventBody {
    const { pid, host } = this.#parts.processes.self();
    return { type: 'task.claimed', pid, host };
  }
}
