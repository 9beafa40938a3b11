import { atScopeEnd } from '../../base/at-scope-end.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { findLines, completeLinesLength } from '../../base/jsonl.ts';
import { storageError, writeAllBytes, type FilePort } from '../files/file-port.ts';
import { taskNotFoundError } from '../files/task-files.ts';

/** The number of bytes that are read, copied, or written from a buffer at a time. */
export const CHUNK_BYTES = 256 * 1024;
/** The maximum length of a line. A longer line is skipped when it is read, and is never written. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

export interface LogLine {
  /** The line without its newline, valid until the next line is read; undefined if the line is too long. */
  readonly bytes: Buffer | undefined;
  /** The position in the file at which the line begins. */
  readonly start: number;
  /** Bytes, including the newline. */
  readonly length: number;
}

/** Reads the log of a task line by line, in bounded memory whatever the file contains. */
export class LineReader implements Iterable<LogLine> {
  readonly #files: FilePort;
  readonly #path: string;
  readonly #task: string;
  /**
   * Reused for all lines that span several chunks, because new buffers would pile up until the garbage collector runs.
   */
  #buffer = Buffer.alloc(0);
  /** The number of bytes read so far of a line that has no end yet. */
  #pendingBytes = 0;
  #position: number;

  /** `start`: the position in the file at which the first line to read begins. */
  constructor(files: FilePort, path: string, task: string, start = 0) {
    this.#files = files;
    this.#path = path;
    this.#task = task;
    this.#position = start;
  }

  /** Number of bytes after the last newline. */
  get tailBytes(): number {
    return this.#pendingBytes;
  }

  *[Symbol.iterator](): Generator<LogLine, void, undefined> {
    for (const chunk of this.#chunks()) yield* this.#split(chunk);
  }

  /** Reads the same lines, and lets other work run after each chunk. */
  async *readYielding(): AsyncIterable<LogLine> {
    for (const chunk of this.#chunks()) {
      yield* this.#split(chunk);
      await new Promise(setImmediate);
    }
  }

  *#chunks(): Generator<Buffer, void, undefined> {
    const fd = this.#wrapErrors(() => this.#files.openRead(this.#path));
    using _close = atScopeEnd(() => this.#files.close(fd));
    const { size } = this.#wrapErrors(() => this.#files.statOpen(fd));
    const remaining = Math.max(0, size - this.#position);
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, remaining + 1));
    for (let position = this.#position; ;) {
      const count = this.#wrapErrors(() => this.#files.readAt(fd, chunk, position));
      if (count === 0) return;
      position += count;
      yield chunk.subarray(0, count);
    }
  }

  *#split(chunk: Buffer): Generator<LogLine, void, undefined> {
    for (const { start, end } of findLines(chunk)) {
      const last = chunk.subarray(start, end);
      const length = this.#pendingBytes + last.length + 1;
      const bytes = length > MAX_LINE_BYTES ? undefined : this.#joinPending(last);
      this.#pendingBytes = 0;
      const lineStart = this.#position;
      this.#position += length;
      yield { bytes, start: lineStart, length };
    }
    this.#addPending(chunk.subarray(completeLinesLength(chunk)));
  }

  #joinPending(last: Buffer): Buffer {
    if (this.#pendingBytes === 0) return last;
    this.#addPending(last);
    return this.#buffer.subarray(0, this.#pendingBytes);
  }

  /**
   * Copies the bytes to the buffer, because the chunk is reused. If the line is too long, only its length is counted.
   */
  #addPending(bytes: Buffer): void {
    const filled = this.#pendingBytes;
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > MAX_LINE_BYTES) return;
    if (this.#pendingBytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#pendingBytes, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, filled);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, filled);
  }

  #wrapErrors<T>(read: () => T): T {
    try {
      return read();
    } catch (thrown) {
      if (systemErrorCode(thrown) === 'ENOENT') throw taskNotFoundError(this.#task);
      throw storageError('read', this.#path, thrown);
    }
  }
}

/** Reads a part of a file in chunks. Each chunk is valid until the next one is read. */
export function* readChunks(
  files: FilePort,
  path: string,
  range: { readonly start: number; readonly end: number },
): Generator<Buffer, void, undefined> {
  const fd = files.openRead(path);
  using _close = atScopeEnd(() => files.close(fd));
  const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, range.end - range.start)));
  for (let position = range.start; position < range.end;) {
    const wanted = chunk.subarray(0, Math.min(chunk.length, range.end - position));
    const count = files.readAt(fd, wanted, position);
    if (count === 0) return;
    position += count;
    yield wanted.subarray(0, count);
  }
}

/** Combines small writes to a file into large ones. */
export class BufferedWriter {
  readonly #files: FilePort;
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;

  constructor(files: FilePort, fd: number) {
    this.#files = files;
    this.#fd = fd;
  }

  write(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      const part = bytes.subarray(from, from + CHUNK_BYTES - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === CHUNK_BYTES) this.flush();
    }
  }

  flush(): void {
    const bytes = this.#buffer.subarray(0, this.#filled);
    this.#filled = 0;
    writeAllBytes(this.#files, this.#fd, bytes);
  }
}
