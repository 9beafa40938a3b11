import { lineSpans, wholeLinesLength } from '../base/jsonl.ts';
import type { TaskEvent } from '../protocol/event.ts';
import type { FilePort } from './file-port.ts';
import { LogScanner, type ScanOptions } from './log-scanner.ts';
import type { LogContents } from './task-store.ts';

const CHUNK_BYTES = 256 * 1024;

/** All events of a log that was read whole. */
export function scanLog(bytes: Buffer, options: ScanOptions): LogContents {
  const scanner = new LogScanner(options);
  const events: TaskEvent[] = [];
  for (const { start, end } of lineSpans(bytes)) {
    const line = scanner.next(bytes.subarray(start, end));
    if (typeof line !== 'string') events.push(line);
  }
  const tail = bytes.length - wholeLinesLength(bytes);
  if (tail > 0) scanner.tornTail(tail);
  return { events, problems: scanner.problems };
}

/** The events from `fromSeq` on, reading a piece at a time; other work runs between two pieces. */
export async function* streamLog(
  files: FilePort,
  path: string,
  fromSeq: number,
  options: ScanOptions,
): AsyncGenerator<TaskEvent, void, undefined> {
  const scanner = new LogScanner(options);
  const fd = files.openRead(path);
  try {
    for await (const line of readLines(files, fd)) {
      const event = scanner.next(line);
      if (typeof event !== 'string' && event.seq >= fromSeq) yield event;
    }
  } finally {
    files.close(fd);
  }
}

async function* readLines(files: FilePort, fd: number): AsyncGenerator<Buffer, void, undefined> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  /** The pieces of a line that began in an earlier chunk: joined once, when its end is there. */
  let pieces: Buffer[] = [];
  let position = 0;
  for (;;) {
    const count = files.readAt(fd, chunk, position);
    if (count === 0) return;
    position += count;
    const bytes = chunk.subarray(0, count);
    for (const { start, end } of lineSpans(bytes)) {
      const last = bytes.subarray(start, end);
      yield pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
      pieces = [];
    }
    // Copied: the chunk is filled again.
    pieces.push(Buffer.from(bytes.subarray(wholeLinesLength(bytes))));
    await new Promise(setImmediate);
  }
}
