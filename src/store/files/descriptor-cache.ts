import type { FilePort } from './file-port.ts';

interface Descriptor {
  readonly fd: number;
  /** Number of calls in progress that use it; it stays open until there are none. */
  pins: number;
  /** True if it is to be closed as soon as nobody uses it. */
  isClosing: boolean;
  /** Number of the use; a later use has a greater number. */
  lastUse: number;
}

/**
 * Append descriptors of many files. It closes the least recently used one first, so that a thousand open tasks fit
 * under a small `ulimit -n`.
 */
export class DescriptorCache {
  readonly #files: FilePort;
  /** Number of descriptors that stay open. */
  readonly maxOpen: number;
  /** By path. */
  readonly #open = new Map<string, Descriptor>();
  #uses = 0;

  constructor(files: FilePort, maxOpen: number) {
    this.#files = files;
    this.maxOpen = maxOpen;
  }

  /** Calls `run` with an append descriptor of an existing file. */
  withDescriptor<T>(path: string, run: (fd: number) => T): T {
    return run(this.#getOpen(path).fd);
  }

  /** Calls `run` with an append descriptor that stays open until the promise of `run` is settled. */
  async withPinnedDescriptor<T>(path: string, run: (fd: number) => Promise<T>): Promise<T> {
    const descriptor = this.#getOpen(path);
    descriptor.pins += 1;
    try {
      return await run(descriptor.fd);
    } finally {
      descriptor.pins -= 1;
      if (descriptor.isClosing && descriptor.pins === 0) this.#files.close(descriptor.fd);
    }
  }

  /** Adds the descriptor of a file that the caller has created. */
  add(path: string, fd: number): void {
    this.#add(path, fd);
  }

  close(path: string): void {
    const descriptor = this.#open.get(path);
    if (descriptor === undefined) return;
    this.#open.delete(path);
    if (descriptor.pins === 0) this.#files.close(descriptor.fd);
    else descriptor.isClosing = true;
  }

  closeAll(): void {
    for (const path of this.#open.keys()) this.close(path);
  }

  #getOpen(path: string): Descriptor {
    const descriptor = this.#open.get(path) ?? this.#add(path, this.#files.openAppend(path));
    descriptor.lastUse = this.#nextUse();
    return descriptor;
  }

  #add(path: string, fd: number): Descriptor {
    const descriptor = { fd, pins: 0, isClosing: false, lastUse: this.#nextUse() };
    this.#open.set(path, descriptor);
    // Never the newest one, which is about to be used.
    if (this.#open.size > Math.max(1, this.maxOpen)) this.#closeLeastRecentlyUsed();
    return descriptor;
  }

  #nextUse(): number {
    this.#uses += 1;
    return this.#uses;
  }

  /** Searches all descriptors: opening a file again costs more, and so no use has to maintain an order. */
  #closeLeastRecentlyUsed(): void {
    let oldest = '';
    let lastUse = Infinity;
    for (const [path, descriptor] of this.#open) {
      if (descriptor.lastUse >= lastUse) continue;
      oldest = path;
      ({ lastUse } = descriptor);
    }
    this.close(oldest);
  }
}
