import { systemErrorCode } from '../base/errors.ts';
import { findLines, completeLinesLength } from '../base/jsonl.ts';
import { writeWhole, type FilePort } from './file-port.ts';
import { storageError } from './storage-error.ts';
import { taskNotFound } from './task-ids.ts';

/** What is read, copied or gathered before a write at once. */
export const PIECE_BYTES = 256 * 1024;
/** A longer line is not read and never written. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

export interface Line {
  /** Its newline left out; for use until the next line is asked for. Undefined: it is too long. */
  readonly bytes: Buffer | undefined;
  /** Where it begins in the file. */
  readonly start: number;
  /** Its newline counted. */
  readonly length: number;
}

/** Reads the log of a task line by line in bounded memory, whatever the file holds. */
export class LineReader implements Iterable<Line> {
  readonly #files: FilePort;
  readonly #path: string;
  readonly #task: string;
  /** Filled again and again, not made anew: what is thrown away piles up until it is collected. */
  #held = Buffer.alloc(0);
  /** How much was seen of a line that began in an earlier chunk. */
  #begun = 0;
  #position: number;

  /** `from`: where in the file a line begins, the first that is read. */
  constructor(files: FilePort, path: string, task: string, from = 0) {
    this.#files = files;
    this.#path = path;
    this.#task = task;
    this.#position = from;
  }

  /** Bytes after the last newline. */
  get tail(): number {
    return this.#begun;
  }

  *[Symbol.iterator](): Generator<Line, void, undefined> {
    for (const chunk of this.#chunks()) yield* this.#split(chunk);
  }

  /** The same; other work runs between two pieces. */
  async *inTurns(): AsyncGenerator<Line, void, undefined> {
    for (const chunk of this.#chunks()) {
      yield* this.#split(chunk);
      await new Promise(setImmediate);
    }
  }

  *#chunks(): Generator<Buffer, void, undefined> {
    const fd = this.#guarded(() => this.#files.openRead(this.#path));
    try {
      const { size } = this.#guarded(() => this.#files.statOpen(fd));
      const left = Math.max(0, size - this.#position);
      const chunk = Buffer.allocUnsafe(Math.min(PIECE_BYTES, left + 1));
      for (let position = this.#position; ;) {
        const count = this.#guarded(() => this.#files.readAt(fd, chunk, position));
        if (count === 0) return;
        position += count;
        yield chunk.subarray(0, count);
      }
    } finally {
      this.#files.close(fd);
    }
  }

  *#split(chunk: Buffer): Generator<Line, void, undefined> {
    for (const { start, end } of findLines(chunk)) {
      const last = chunk.subarray(start, end);
      const length = this.#begun + last.length + 1;
      const bytes = length > MAX_LINE_BYTES ? undefined : this.#joined(last);
      this.#begun = 0;
      const from = this.#position;
      this.#position += length;
      yield { bytes, start: from, length };
    }
    this.#hold(chunk.subarray(completeLinesLength(chunk)));
  }

  #joined(last: Buffer): Buffer {
    if (this.#begun === 0) return last;
    this.#hold(last);
    return this.#held.subarray(0, this.#begun);
  }

  /** Copies: the chunk is filled again. Of a line that is too long only the length is kept. */
  #hold(bytes: Buffer): void {
    const begun = this.#begun;
    this.#begun += bytes.length;
    if (this.#begun > MAX_LINE_BYTES) return;
    if (this.#begun > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#begun, 2 * this.#held.length));
      this.#held.copy(larger, 0, 0, begun);
      this.#held = larger;
    }
    bytes.copy(this.#held, begun);
  }

  #guarded<T>(read: () => T): T {
    try {
      return read();
    } catch (thrown) {
      if (systemErrorCode(thrown) === 'ENOENT') throw taskNotFound(this.#task);
      throw storageError('read', this.#path, thrown);
    }
  }
}

/** The pieces of a part of a file; each is for use until the next one is asked for. */
export function* filePieces(
  files: FilePort,
  path: string,
  part: { readonly start: number; readonly end: number },
): Generator<Buffer, void, undefined> {
  const fd = files.openRead(path);
  try {
    const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(PIECE_BYTES, part.end - part.start)));
    for (let position = part.start; position < part.end;) {
      const wanted = chunk.subarray(0, Math.min(chunk.length, part.end - position));
      const count = files.readAt(fd, wanted, position);
      if (count === 0) return;
      position += count;
      yield wanted.subarray(0, count);
    }
  } finally {
    files.close(fd);
  }
}

/** Gathers what is written to a file into large writes. */
export class PieceWriter {
  readonly #files: FilePort;
  readonly #fd: number;
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #filled = 0;

  constructor(files: FilePort, fd: number) {
    this.#files = files;
    this.#fd = fd;
  }

  write(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      const part = bytes.subarray(from, from + PIECE_BYTES - this.#filled);
      this.#piece.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === PIECE_BYTES) this.flush();
    }
  }

  flush(): void {
    const bytes = this.#piece.subarray(0, this.#filled);
    this.#filled = 0;
    writeWhole(this.#files, this.#fd, bytes);
  }
}
