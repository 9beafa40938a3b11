import { atScopeEnd } from '../../base/at-scope-end.ts';
import { newId } from '../../base/ids.ts';
import { storageError, type FilePort } from '../files/file-port.ts';
import { readChunks, LineReader, BufferedWriter, type LogLine } from './line-reader.ts';
import type { LogState } from './log-reader.ts';
import { LogScanner, type ScanOptions } from './log-scanner.ts';

const NEWLINE = 0x0a;

interface LogPaths {
  readonly log: string;
  /** The file to which damaged lines are moved. */
  readonly damaged: string;
}

/**
 * Cuts off a torn tail, and moves damaged lines to another file. Only the owner may do this. If the process is
 * killed meanwhile, the log is either unchanged or completely repaired.
 */
export function repairLog(
  files: FilePort,
  paths: LogPaths,
  state: LogState,
  options: ScanOptions,
): void {
  try {
    if (state.damagedBytes > 0) moveDamagedLines(files, paths, options);
    else if (state.tornBytes > 0) truncateLog(files, paths.log, state.goodBytes);
  } catch (thrown) {
    throw storageError('repair', paths.log, thrown);
  }
}

/**
 * Moves the content of a log without a `task.created` event to the file of damaged lines, and removes the log. The
 * caller must hold the lock.
 */
export function moveLogAside(files: FilePort, paths: LogPaths): void {
  try {
    const { size = 0 } = files.stat(paths.log) ?? {};
    if (size > 0) {
      appendDamaged(files, paths.damaged, (damaged) => {
        for (const chunk of readChunks(files, paths.log, { start: 0, end: size })) {
          damaged.write(chunk);
        }
      });
    }
    files.unlink(paths.log);
  } catch (thrown) {
    throw storageError('set aside', paths.log, thrown);
  }
}

function truncateLog(files: FilePort, path: string, length: number): void {
  const fd = files.openAppend(path);
  using _close = atScopeEnd(() => files.close(fd));
  files.truncate(fd, length);
}

/** Reads the log a second time, so that the positions of damaged lines need not be kept in memory. */
function moveDamagedLines(files: FilePort, paths: LogPaths, options: ScanOptions): void {
  const draft = `${paths.log}.${newId()}.new`;
  const fd = files.openNew(draft);
  try {
    writeDurably(files, fd, (good) => {
      appendDamaged(files, paths.damaged, (damaged) => {
        const scanner = new LogScanner(options);
        for (const line of new LineReader(files, paths.log, options.task)) {
          const isDamaged = scanner.scanLine(line.bytes) === 'damaged';
          copyLine(files, paths.log, line, isDamaged ? damaged : good);
        }
      });
    });
    files.rename(draft, paths.log);
  } catch (thrown) {
    files.unlink(draft);
    throw thrown;
  }
}

function copyLine(files: FilePort, path: string, line: LogLine, writer: BufferedWriter): void {
  if (line.bytes === undefined) {
    const range = { start: line.start, end: line.start + line.length };
    for (const chunk of readChunks(files, path, range)) writer.write(chunk);
  } else {
    writer.write(line.bytes);
    writer.write(Uint8Array.of(NEWLINE));
  }
}

/** Appends to the file of damaged lines, after a newline if its last line is incomplete. */
function appendDamaged(
  files: FilePort,
  path: string,
  fill: (damaged: BufferedWriter) => void,
): void {
  const size = files.stat(path)?.size;
  const fd = size === undefined ? files.openNew(path) : files.openAppend(path);
  writeDurably(files, fd, (damaged) => {
    const range = { start: (size ?? 0) - 1, end: size ?? 0 };
    for (const chunk of range.end === 0 ? [] : readChunks(files, path, range)) {
      if (chunk[0] !== NEWLINE) damaged.write(Uint8Array.of(NEWLINE));
    }
    fill(damaged);
  });
}

/**
 * Writes a file and makes its bytes durable. Otherwise a power loss after the following rename could leave an empty
 * file under the new name.
 */
function writeDurably(files: FilePort, fd: number, fill: (writer: BufferedWriter) => void): void {
  using _close = atScopeEnd(() => files.close(fd));
  const writer = new BufferedWriter(files, fd);
  fill(writer);
  writer.flush();
  files.datasyncBlocking(fd);
}
