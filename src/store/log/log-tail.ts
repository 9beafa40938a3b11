import type { FilePort } from '../files/file-port.ts';
import { LineReader } from './line-reader.ts';
import type { EventVisitor } from './log-reader.ts';
import { LogScanner, type ScanOptions } from './log-scanner.ts';
import { storageError } from '../files/storage-error.ts';
import type { LogTail } from '../task-store.ts';

/** Reads the events that were added to a log file. Keeps no descriptor open, because thousands of logs may be followed. */
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
