import { systemErrorCode } from '../../base/errors.ts';
import type { DescriptorCache } from '../files/descriptor-cache.ts';
import { storageError, writeAllBytes, type FilePort } from '../files/file-port.ts';
import { waitUntilIdle } from '../../sys/processes/wait-until-idle.ts';

const WRITE_AFTER_MS = 150;
/** The longest time that writing may block other work. */
const SLICE_MS = 8;
/** The pause for other work after each slice, because creating a thousand files takes long. */
const REST_MS = 72;
/**
 * While the process is busy, pauses are longer, by this time in all at most: somebody may be following the text.
 */
const MAX_EXTRA_REST_MS = 2_000;

/**
 * Writes the plain-text output of tasks. Only people read it, and nothing depends on it, so it is collected and written a
 * moment later. A thousand tasks that start together start sooner that way.
 */
export class OutputQueue {
  readonly #files: FilePort;
  readonly #descriptors: DescriptorCache;
  readonly #getPath: (id: string) => string;
  readonly #pending = new Map<string, string[]>();
  /** The error of the last failed write of each task, which is thrown at its next text. */
  readonly #failed = new Map<string, unknown>();
  /** Tasks whose file exists. */
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
    this.#timer ??= setTimeout(() => void this.#writeInSlices(), WRITE_AFTER_MS).unref();
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

  /** Writes all pending texts at once. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const id of this.#pending.keys()) this.#write(id);
  }

  async #writeInSlices(): Promise<void> {
    let sliceEnds = performance.now() + SLICE_MS;
    const restEnds = sliceEnds + MAX_EXTRA_REST_MS;
    for (const id of this.#pending.keys()) {
      if (performance.now() > sliceEnds) {
        const mostMs = Math.max(REST_MS, restEnds - performance.now());
        await waitUntilIdle({ sampleMs: REST_MS, maxMs: mostMs });
        sliceEnds = performance.now() + SLICE_MS;
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
      // The file of a task is usually missing at its first text.
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
