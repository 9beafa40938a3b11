import { MusterError } from '../../base/errors.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { FilePort } from '../files/file-port.ts';
import { LineReader } from './line-reader.ts';
import { LogScanner, type ScanOptions } from './log-scanner.ts';
import { addToSummary } from './task-summary.ts';
import type { LogProblem, TaskSummary } from '../task-store.ts';

export type EventVisitor = (event: TaskEvent) => void;

/** What a new owner has to know of a log, and to mend in it. */
export interface LogState {
  /** Whole lines, damaged ones left out. Bytes. */
  readonly goodBytes: number;
  readonly tornBytes: number;
  readonly damagedBytes: number;
  readonly problems: readonly LogProblem[];
  readonly nextSeq: number;
  readonly epoch: number;
  /** Undefined: the log has no created event. */
  readonly summary: TaskSummary | undefined;
}

/** Reads a log once, in order and in bounded memory. What `visit` throws ends it and is thrown on. */
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

/** Visits all events of a log; returns what of it could not be used. */
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

/** The created event of a log, its blobs not read; undefined where it has no whole one. */
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
    // Not there, or deleted meanwhile.
    if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') throw thrown;
  }
  return undefined;
}

interface StreamOptions extends ScanOptions {
  readonly fromSeq: number;
  /** Called at the end with what could not be used. */
  readonly onProblems: (problems: readonly LogProblem[]) => void;
}

/** The events from `fromSeq` on, reading a piece at a time; other work runs between two pieces. */
export async function* streamLog(
  files: FilePort,
  path: string,
  options: StreamOptions,
): AsyncGenerator<TaskEvent, void, undefined> {
  const scanner = new LogScanner(options);
  const reader = new LineReader(files, path, options.task);
  for await (const { bytes } of reader.readInPieces()) {
    const event = scanner.scanLine(bytes);
    if (typeof event !== 'string' && event.seq >= options.fromSeq) yield event;
  }
  if (reader.tailBytes > 0) scanner.addTornTail(reader.tailBytes);
  options.onProblems(scanner.problems);
}
