import type { FilePort } from './file-port.ts';

interface Descriptor {
  readonly fd: number;
  /** The number of calls in progress that use the descriptor. It stays open until this number is 0. */
  pins: number;
  /** True if the descriptor is closed as soon as no call uses it. */
  isClosing: boolean;
  /** The number of the last use. A later use has a greater number. */
  lastUse: number;
}

/**
 * Keeps append descriptors of many files open. Closes the least recently used descriptor when there are too many, so
 * that a thousand open tasks fit under a small `ulimit -n`.
 */
export class DescriptorCache {
  readonly #files: FilePort;
  /** The maximum number of descriptors that stay open. */
  readonly maxOpen: number;
  /** The open descriptors by path. */
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
    // Keep at least one descriptor: the new descriptor is about to be used.
    if (this.#open.size > Math.max(1, this.maxOpen)) this.#closeLeastRecentlyUsed();
    return descriptor;
  }

  #nextUse(): number {
    this.#uses += 1;
    return this.#uses;
  }

  /** Searches all descriptors. This costs less than opening a file again, and no use has to maintain an order. */
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
