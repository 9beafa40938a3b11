import { systemErrorCode } from '../base/errors.ts';
import { waitUntilIdle } from '../sys/processes/wait-until-idle.ts';
import type { Descriptors } from './descriptors.ts';
import { writeWhole, type FilePort } from './file-port.ts';
import { storageError } from './storage-error.ts';

const WRITE_AFTER_MS = 150;
/** How long writing may keep everything else waiting, … */
const SLICE_MS = 8;
/** … and how much longer than that everything else then has: to make a thousand files takes its time. */
const REST_MS = 72;
/** Where the process is at work meanwhile, it rests on, for all slices so much longer: somebody may follow the text. */
const MOST_LONGER_MS = 2_000;

/**
 * The plain text beside the logs. It is for people alone and no part of the truth, so it is gathered
 * and written a moment later: a thousand tasks that begin at once begin sooner for it.
 */
export class OutputQueue {
  readonly #files: FilePort;
  readonly #descriptors: Descriptors;
  readonly #pathOf: (id: string) => string;
  readonly #pending = new Map<string, string[]>();
  /** What the last write of a task failed with, to be told at its next text. */
  readonly #failed = new Map<string, unknown>();
  /** Tasks whose file is there. */
  readonly #begun = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(files: FilePort, descriptors: Descriptors, pathOf: (id: string) => string) {
    this.#files = files;
    this.#descriptors = descriptors;
    this.#pathOf = pathOf;
  }

  /** Throws what an earlier text of this task could not be written for. */
  add(id: string, text: string): void {
    const texts = this.#pending.get(id);
    if (texts === undefined) this.#pending.set(id, [text]);
    else texts.push(text);
    this.#timer ??= setTimeout(() => void this.#writeInSlices(), WRITE_AFTER_MS).unref();
    const failure = this.#failed.get(id);
    if (failure === undefined) return;
    this.#failed.delete(id);
    throw storageError('write', this.#pathOf(id), failure);
  }

  /** Writes what waits of a task, and forgets the task. */
  finish(id: string): void {
    this.#write(id);
    this.#failed.delete(id);
    this.#begun.delete(id);
  }

  /** At once: for whoever reads it now, and at the end. */
  writeAll(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const id of this.#pending.keys()) this.#write(id);
  }

  async #writeInSlices(): Promise<void> {
    let sliceEnds = performance.now() + SLICE_MS;
    const longerUntil = sliceEnds + MOST_LONGER_MS;
    for (const id of this.#pending.keys()) {
      if (performance.now() > sliceEnds) {
        const mostMs = Math.max(REST_MS, longerUntil - performance.now());
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
    const path = this.#pathOf(id);
    try {
      // Most tasks that have text are new.
      if (!this.#begun.has(id)) this.#make(path);
      this.#begun.add(id);
      this.#append(path, Buffer.from(texts.join('')));
    } catch (thrown) {
      this.#failed.set(id, thrown);
    }
  }

  #append(path: string, bytes: Buffer): void {
    const write = (): void =>
      this.#descriptors.use(path, (fd) => writeWhole(this.#files, fd, bytes));
    try {
      write();
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
      this.#make(path);
      write();
    }
  }

  /** Makes the file, where it is missing. */
  #make(path: string): void {
    try {
      this.#descriptors.adopt(path, this.#files.openNew(path));
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
    }
  }
}
