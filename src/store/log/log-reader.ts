import { MusterError } from '../../base/errors.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { storageError, type FilePort } from '../files/file-port.ts';
import type { LogProblem, TaskSummary, LogTail } from '../task-store.ts';
import { LineReader } from './line-reader.ts';
import { LogScanner, type ScanOptions } from './log-scanner.ts';
import { addToSummary } from './task-summary.ts';

export type EventVisitor = (event: TaskEvent) => void;

/** The state of a log, which tells a new owner where to continue and what to repair. */
export interface LogState {
  /** Bytes of complete, undamaged lines. */
  readonly goodBytes: number;
  readonly tornBytes: number;
  readonly damagedBytes: number;
  readonly problems: readonly LogProblem[];
  readonly nextSeq: number;
  readonly epoch: number;
  /** Undefined if the log has no `task.created` event. */
  readonly summary: TaskSummary | undefined;
}

/** Reads a log once, in order and in bounded memory. An error that `visit` throws ends the reading. */
export function inspectLog(
  files: FilePort,
  path: string,
  options: ScanOptions,
  visit: EventVisitor,
): LogState {
  const scanner = new LogScanner(options);
  const reader = new LineReader(files, path, options.task);
  let goodBytes = 0;
  let damagedBytes = 0;
  let summary: TaskSummary | undefined;
  for (const { bytes, length } of reader) {
    const line = scanner.scanLine(bytes);
    if (line === 'damaged') damagedBytes += length;
    else goodBytes += length;
    if (typeof line === 'string') continue;
    summary = addToSummary(summary, line);
    visit(line);
  }
  if (reader.tailBytes > 0) scanner.addTornTail(reader.tailBytes);
  const { problems, nextSeq, epoch } = scanner;
  return {
    goodBytes,
    damagedBytes,
    tornBytes: reader.tailBytes,
    problems,
    nextSeq,
    epoch,
    summary,
  };
}

/** Visits all events of a log. Returns the problems of lines that could not be used. */
export function visitLog(
  files: FilePort,
  path: string,
  options: ScanOptions,
  visit: EventVisitor,
): readonly LogProblem[] {
  const scanner = new LogScanner(options);
  const reader = new LineReader(files, path, options.task);
  for (const { bytes } of reader) {
    const event = scanner.scanLine(bytes);
    if (typeof event !== 'string') visit(event);
  }
  if (reader.tailBytes > 0) scanner.addTornTail(reader.tailBytes);
  return scanner.problems;
}

/**
 * Reads the `task.created` event of a log without its blobs; undefined if the log has no complete `task.created` event.
 */
export function readCreatedEvent(
  files: FilePort,
  path: string,
  task: string,
): Extract<TaskEvent, { type: 'task.created' }> | undefined {
  const scanner = new LogScanner({ task });
  try {
    for (const { bytes } of new LineReader(files, path, task)) {
      const event = scanner.scanLine(bytes);
      if (typeof event !== 'string' && event.type === 'task.created') return event;
    }
  } catch (thrown) {
    // The log does not exist, or was deleted meanwhile.
    if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') throw thrown;
  }
  return undefined;
}

interface StreamOptions extends ScanOptions {
  readonly fromSeq: number;
  /** Called at the end with the problems of lines that could not be used. */
  readonly onProblems: (problems: readonly LogProblem[]) => void;
}

/** Reads the events from `fromSeq` on, and lets other work run after each chunk. */
export async function* streamLog(
  files: FilePort,
  path: string,
  options: StreamOptions,
): AsyncIterable<TaskEvent> {
  const scanner = new LogScanner(options);
  const reader = new LineReader(files, path, options.task);
  for await (const { bytes } of reader.readYielding()) {
    const event = scanner.scanLine(bytes);
    if (typeof event !== 'string' && event.seq >= options.fromSeq) yield event;
  }
  if (reader.tailBytes > 0) scanner.addTornTail(reader.tailBytes);
  options.onProblems(scanner.problems);
}

/**
 * Reads the events that are added to a log file. No descriptor stays open, because thousands of logs may be followed.
 */
export class FileLogTail implements LogTail {
  readonly #files: FilePort;
  readonly #path: string;
  readonly #task: string;
  readonly #scanner: LogScanner;
  #inode = -1;
  /** The size of the file at the last read, so that an incomplete line is not read again and again. */
  #size = 0;
  /** The end of the last complete line. */
  #position = 0;

  constructor(files: FilePort, path: string, options: ScanOptions) {
    this.#files = files;
    this.#path = path;
    this.#task = options.task;
    this.#scanner = new LogScanner(options);
  }

  read(visit: EventVisitor): void {
    const stat = this.#stat();
    if (stat === undefined) return;
    const { inode, size } = stat;
    if (inode === this.#inode && size === this.#size) return;
    // A repair writes the log to a new file. The scanner skips the events that were read before, by their numbers.
    if (inode !== this.#inode || size < this.#position) this.#position = 0;
    this.#inode = inode;
    this.#size = size;
    const lines = new LineReader(this.#files, this.#path, this.#task, this.#position);
    for (const { bytes, start, length } of lines) {
      this.#position = start + length;
      const event = this.#scanner.scanLine(bytes);
      if (typeof event !== 'string') visit(event);
    }
  }

  #stat() {
    try {
      return this.#files.stat(this.#path);
    } catch (thrown) {
      throw storageError('read', this.#path, thrown);
    }
  }
}
