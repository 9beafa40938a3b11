import type { FilePort } from './file-port.ts';

interface Descriptor {
  readonly fd: number;
  /** Calls in flight on it: it stays open as long. */
  pins: number;
  /** To be closed as soon as nobody uses it. */
  isClosing: boolean;
  /** Greater than that of any that was used before. */
  lastUse: number;
}

/**
 * Kept append descriptors of many files, the least recently used closed first, so that a thousand open
 * tasks fit under a small `ulimit -n`.
 */
export class DescriptorCache {
  readonly #files: FilePort;
  /** How many are kept open. */
  readonly maxOpen: number;
  /** By path. */
  readonly #open = new Map<string, Descriptor>();
  #uses = 0;

  constructor(files: FilePort, cap: number) {
    this.#files = files;
    this.maxOpen = cap;
  }

  /** Calls `run` with an append descriptor of an existing file. */
  withDescriptor<T>(path: string, run: (fd: number) => T): T {
    return run(this.#touch(path).fd);
  }

  /** The same for work that takes its time; the descriptor stays open until it is done. */
  async withPinnedDescriptor<T>(path: string, run: (fd: number) => Promise<T>): Promise<T> {
    const descriptor = this.#touch(path);
    descriptor.pins += 1;
    try {
      return await run(descriptor.fd);
    } finally {
      descriptor.pins -= 1;
      if (descriptor.isClosing && descriptor.pins === 0) this.#files.close(descriptor.fd);
    }
  }

  /** Keeps a descriptor that was opened elsewhere: the file is new. */
  add(path: string, fd: number): void {
    this.#keep(path, fd);
  }

  close(path: string): void {
    const descriptor = this.#open.get(path);
    if (descriptor === undefined) return;
    this.#open.delete(path);
    this.#closeOnceUnused(descriptor);
  }

  closeAll(): void {
    for (const path of this.#open.keys()) this.close(path);
  }

  #touch(path: string): Descriptor {
    const descriptor = this.#open.get(path) ?? this.#keep(path, this.#files.openAppend(path));
    descriptor.lastUse = this.#nextUse();
    return descriptor;
  }

  #keep(path: string, fd: number): Descriptor {
    const descriptor = { fd, pins: 0, isClosing: false, lastUse: this.#nextUse() };
    this.#open.set(path, descriptor);
    // Never the newest, which is about to be used.
    if (this.#open.size > Math.max(1, this.maxOpen)) this.#closeOldest();
    return descriptor;
  }

  #nextUse(): number {
    this.#uses += 1;
    return this.#uses;
  }

  /** Looks at all: to open a file again costs more, and each use is spared the keeping of an order. */
  #closeOldest(): void {
    let oldest = '';
    let lastUse = Infinity;
    for (const [path, descriptor] of this.#open) {
      if (descriptor.lastUse >= lastUse) continue;
      oldest = path;
      ({ lastUse } = descriptor);
    }
    this.close(oldest);
  }

  #closeOnceUnused(descriptor: Descriptor): void {
    if (descriptor.pins === 0) this.#files.close(descriptor.fd);
    else descriptor.isClosing = true;
  }
}
