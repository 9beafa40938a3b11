import { newId } from '../base/ids.ts';
import { lineSpans, wholeLinesLength, type LineSpan } from '../base/jsonl.ts';
import { writeWhole, type FilePort } from './file-port.ts';
import { LogScanner, type ScanOptions } from './log-scanner.ts';
import { addToSummary } from './summary.ts';
import type { LogProblem, TaskSummary } from './task-store.ts';

/** What a new owner has to know of a log, and to mend in it. */
export interface LogState {
  /** Whole lines, damaged ones left out. Bytes. */
  readonly goodBytes: number;
  readonly tornBytes: number;
  readonly damaged: readonly LineSpan[];
  readonly problems: readonly LogProblem[];
  readonly nextSeq: number;
  readonly epoch: number;
  /** Undefined: the log has no created event. */
  readonly summary: TaskSummary | undefined;
}

export function inspectLog(bytes: Buffer, options: ScanOptions): LogState {
  const scanner = new LogScanner(options);
  const damaged: LineSpan[] = [];
  let summary: TaskSummary | undefined;
  for (const span of lineSpans(bytes)) {
    const line = scanner.next(bytes.subarray(span.start, span.end));
    if (line === 'damaged') damaged.push(span);
    else if (line !== 'header') summary = addToSummary(summary, line);
  }
  const wholeBytes = wholeLinesLength(bytes);
  const damagedBytes = damaged.reduce((sum, { start, end }) => sum + end + 1 - start, 0);
  return {
    goodBytes: wholeBytes - damagedBytes,
    tornBytes: bytes.length - wholeBytes,
    damaged,
    problems: scanner.problems,
    nextSeq: scanner.nextSeq,
    epoch: scanner.epoch,
    summary,
  };
}

/**
 * Cuts off a torn tail, moves damaged lines to `aside`. For the owner alone. Whatever stops it half
 * way leaves either the log as it was or the mended one.
 */
export function repairLog(
  files: FilePort,
  paths: { readonly log: string; readonly aside: string },
  bytes: Buffer,
  state: LogState,
): void {
  if (state.damaged.length > 0) moveAside(files, paths, bytes, state.damaged);
  else if (state.tornBytes > 0) cutTail(files, paths.log, state.goodBytes);
}

function cutTail(files: FilePort, path: string, length: number): void {
  const fd = files.openAppend(path);
  try {
    files.truncate(fd, length);
  } finally {
    files.close(fd);
  }
}

function moveAside(
  files: FilePort,
  paths: { readonly log: string; readonly aside: string },
  bytes: Buffer,
  damaged: readonly LineSpan[],
): void {
  const good: Buffer[] = [];
  let from = 0;
  for (const { start, end } of damaged) {
    good.push(bytes.subarray(from, start));
    from = end + 1;
  }
  good.push(bytes.subarray(from, wholeLinesLength(bytes)));
  const bad = damaged.map(({ start, end }) => bytes.subarray(start, end + 1));
  const isNew = files.stat(paths.aside) === undefined;
  writeDurably(files, isNew ? files.openNew(paths.aside) : files.openAppend(paths.aside), bad);
  const draft = `${paths.log}.${newId()}.new`;
  const fd = files.openNew(draft);
  try {
    writeDurably(files, fd, good);
    files.rename(draft, paths.log);
  } catch (thrown) {
    files.unlink(draft);
    throw thrown;
  }
}

/** Durable before the rename that follows: else a power loss could leave the new name with no content. */
function writeDurably(files: FilePort, fd: number, pieces: readonly Buffer[]): void {
  try {
    writeWhole(files, fd, Buffer.concat(pieces));
    files.datasyncNow(fd);
  } finally {
    files.close(fd);
  }
}
