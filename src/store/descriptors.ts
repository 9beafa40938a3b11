import type { FilePort } from './file-port.ts';

interface Descriptor {
  readonly fd: number;
  /** Calls in flight on it: it stays open as long. */
  pins: number;
  /** To be closed as soon as nobody uses it. */
  doomed: boolean;
}

/**
 * Kept append descriptors of many files, the least recently used closed first, so that a thousand open
 * tasks fit under a small `ulimit -n`.
 */
export class Descriptors {
  readonly #files: FilePort;
  readonly #cap: number;
  /** By path, least recently used first. */
  readonly #open = new Map<string, Descriptor>();
  /** The last path in that order: a batch of appends to one file reorders nothing. */
  #newest = '';

  constructor(files: FilePort, cap: number) {
    this.#files = files;
    this.#cap = cap;
  }

  /** Calls `run` with an append descriptor of an existing file. */
  use<T>(path: string, run: (fd: number) => T): T {
    return run(this.#touch(path).fd);
  }

  /** The same for work that takes its time; the descriptor stays open until it is done. */
  async hold<T>(path: string, run: (fd: number) => Promise<T>): Promise<T> {
    const descriptor = this.#touch(path);
    descriptor.pins += 1;
    try {
      return await run(descriptor.fd);
    } finally {
      descriptor.pins -= 1;
      if (descriptor.doomed && descriptor.pins === 0) this.#files.close(descriptor.fd);
    }
  }

  /** Keeps a descriptor that was opened elsewhere: the file is new. */
  adopt(path: string, fd: number): void {
    this.#open.set(path, { fd, pins: 0, doomed: false });
    this.#newest = path;
    this.#evict();
  }

  forget(path: string): void {
    const descriptor = this.#open.get(path);
    if (descriptor === undefined) return;
    this.#open.delete(path);
    this.#closeOnceUnused(descriptor);
  }

  closeAll(): void {
    for (const path of this.#open.keys()) this.forget(path);
  }

  #touch(path: string): Descriptor {
    let descriptor = this.#open.get(path);
    if (descriptor === undefined) {
      descriptor = { fd: this.#files.openAppend(path), pins: 0, doomed: false };
      this.#open.set(path, descriptor);
      this.#evict();
    } else if (path !== this.#newest) {
      this.#open.delete(path);
      this.#open.set(path, descriptor);
    }
    this.#newest = path;
    return descriptor;
  }

  /** Closes the oldest ones over the cap; never the newest, which is about to be used. */
  #evict(): void {
    while (this.#open.size > Math.max(1, this.#cap)) {
      const oldest = this.#open.entries().next();
      if (oldest.done === true) return;
      const [path, descriptor] = oldest.value;
      this.#open.delete(path);
      this.#closeOnceUnused(descriptor);
    }
  }

  #closeOnceUnused(descriptor: Descriptor): void {
    if (descriptor.pins === 0) this.#files.close(descriptor.fd);
    else descriptor.doomed = true;
  }
}
