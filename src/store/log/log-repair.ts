import { newId } from '../../base/ids.ts';
import type { FilePort } from '../files/file-port.ts';
import { readChunks, LineReader, BufferedWriter, type LogLine } from './line-reader.ts';
import type { LogState } from './log-reader.ts';
import { LogScanner, type ScanOptions } from './log-scanner.ts';
import { storageError } from '../files/storage-error.ts';

const NEWLINE = 0x0a;

interface LogPaths {
  readonly log: string;
  /** Where what can't be used is kept. */
  readonly aside: string;
}

/**
 * Cuts off a torn tail, moves damaged lines to `aside`. For the owner alone. Whatever stops it half
 * way leaves either the log as it was or the mended one.
 */
export function repairLog(
  files: FilePort,
  paths: LogPaths,
  state: LogState,
  options: ScanOptions,
): void {
  try {
    if (state.damagedBytes > 0) moveAside(files, paths, options);
    else if (state.tornBytes > 0) cutTail(files, paths.log, state.goodBytes);
  } catch (thrown) {
    throw storageError('repair', paths.log, thrown);
  }
}

/** Keeps what stands in a log that never began, and removes the log. For the lock's holder alone. */
export function moveLogAside(files: FilePort, paths: LogPaths): void {
  try {
    const { size = 0 } = files.stat(paths.log) ?? {};
    if (size > 0) {
      appendAside(files, paths.aside, (aside) => {
        const whole = { start: 0, end: size };
        for (const piece of readChunks(files, paths.log, whole)) aside.write(piece);
      });
    }
    files.unlink(paths.log);
  } catch (thrown) {
    throw storageError('set aside', paths.log, thrown);
  }
}

function cutTail(files: FilePort, path: string, length: number): void {
  const fd = files.openAppend(path);
  try {
    files.truncate(fd, length);
  } finally {
    files.close(fd);
  }
}

/** Reads the log a second time: which lines are damaged need not be kept in memory. */
function moveAside(files: FilePort, paths: LogPaths, options: ScanOptions): void {
  const draft = `${paths.log}.${newId()}.new`;
  const fd = files.openNew(draft);
  try {
    writeDurably(files, fd, (good) => {
      appendAside(files, paths.aside, (bad) => {
        const scanner = new LogScanner(options);
        for (const line of new LineReader(files, paths.log, options.task)) {
          const into = scanner.scanLine(line.bytes) === 'damaged' ? bad : good;
          copyLine(files, paths.log, line, into);
        }
      });
    });
    files.rename(draft, paths.log);
  } catch (thrown) {
    files.unlink(draft);
    throw thrown;
  }
}

function copyLine(files: FilePort, path: string, line: LogLine, into: BufferedWriter): void {
  if (line.bytes === undefined) {
    const part = { start: line.start, end: line.start + line.length };
    for (const piece of readChunks(files, path, part)) into.write(piece);
  } else {
    into.write(line.bytes);
    into.write(Uint8Array.of(NEWLINE));
  }
}

/** On a line of its own, even where an earlier one was cut short. */
function appendAside(files: FilePort, path: string, fill: (aside: BufferedWriter) => void): void {
  const size = files.stat(path)?.size;
  const fd = size === undefined ? files.openNew(path) : files.openAppend(path);
  writeDurably(files, fd, (aside) => {
    const last = size === undefined ? [] : readChunks(files, path, { start: size - 1, end: size });
    for (const piece of size === 0 ? [] : last) {
      if (piece[0] !== NEWLINE) aside.write(Uint8Array.of(NEWLINE));
    }
    fill(aside);
  });
}

/** Durable before the rename that follows: else a power loss could leave the new name with no content. */
function writeDurably(files: FilePort, fd: number, fill: (writer: BufferedWriter) => void): void {
  try {
    const writer = new BufferedWriter(files, fd);
    fill(writer);
    writer.flush();
    files.datasyncBlocking(fd);
  } finally {
    files.close(fd);
  }
}
