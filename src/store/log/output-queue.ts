import { systemErrorCode } from '../../base/errors.ts';
import type { DescriptorCache } from '../files/descriptor-cache.ts';
import { storageError, writeAllBytes, type FilePort } from '../files/file-port.ts';
import { waitUntilIdle } from '../../sys/processes/wait-until-idle.ts';

/** The time from the first pending text to the start of writing. */
const WRITE_DELAY_MS = 150;
/** The maximum time that one slice of writing blocks other work. */
const SLICE_MS = 8;
/** The minimum pause for other work after each slice, because creating a thousand files takes long. */
const PAUSE_MS = 72;
/**
 * While the process is busy, pauses are longer, but only during this time, because somebody may be following the text.
 */
const MAX_TOTAL_PAUSE_MS = 2_000;

/**
 * Writes the plain-text output of tasks. Only people read the output, and nothing depends on it, so texts are collected
 * and written a moment later. This lets a thousand tasks that start together start sooner.
 */
export class OutputQueue {
  readonly #files: FilePort;
  readonly #descriptors: DescriptorCache;
  readonly #getPath: (id: string) => string;
  readonly #pending = new Map<string, string[]>();
  /** The error of the last failed write of each task. It is thrown when the next text of the task is added. */
  readonly #failed = new Map<string, unknown>();
  /** The ids of tasks whose output file exists. */
  readonly #created = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(files: FilePort, descriptors: DescriptorCache, getPath: (id: string) => string) {
    this.#files = files;
    this.#descriptors = descriptors;
    this.#getPath = getPath;
  }

  /** Adds a text to the output of a task. Throws the error of an earlier write that failed. */
  add(id: string, text: string): void {
    const texts = this.#pending.get(id);
    if (texts === undefined) this.#pending.set(id, [text]);
    else texts.push(text);
    this.#timer ??= setTimeout(() => void this.#writeInSlices(), WRITE_DELAY_MS).unref();
    const failure = this.#failed.get(id);
    if (failure === undefined) return;
    this.#failed.delete(id);
    throw storageError('write', this.#getPath(id), failure);
  }

  /** Writes the pending text of a task, and forgets the task. */
  finish(id: string): void {
    this.#write(id);
    this.#failed.delete(id);
    this.#created.delete(id);
  }

  /** Writes all pending texts now. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const id of this.#pending.keys()) this.#write(id);
  }

  async #writeInSlices(): Promise<void> {
    let sliceEnd = performance.now() + SLICE_MS;
    const longPausesEnd = sliceEnd + MAX_TOTAL_PAUSE_MS;
    for (const id of this.#pending.keys()) {
      if (performance.now() > sliceEnd) {
        const maxMs = Math.max(PAUSE_MS, longPausesEnd - performance.now());
        await waitUntilIdle({ sampleMs: PAUSE_MS, maxMs });
        sliceEnd = performance.now() + SLICE_MS;
      }
      this.#write(id);
    }
    this.#timer = null;
  }

  #write(id: string): void {
    const texts = this.#pending.get(id);
    if (texts === undefined) return;
    this.#pending.delete(id);
    const path = this.#getPath(id);
    try {
      // The file of a task usually does not exist before its first text.
      if (!this.#created.has(id)) this.#createFile(path);
      this.#created.add(id);
      this.#append(path, Buffer.from(texts.join('')));
    } catch (thrown) {
      this.#failed.set(id, thrown);
    }
  }

  #append(path: string, bytes: Buffer): void {
    const write = (): void =>
      this.#descriptors.withDescriptor(path, (fd) => writeAllBytes(this.#files, fd, bytes));
    try {
      write();
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
      this.#createFile(path);
      write();
    }
  }

  /** Creates the file if it does not exist. */
  #createFile(path: string): void {
    try {
      this.#descriptors.add(path, this.#files.openNew(path));
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
    }
  }
}
