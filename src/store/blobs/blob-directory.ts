import { join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import {
  storageError,
  readFileIfExists,
  writeViaDraft,
  type FilePort,
} from '../files/file-port.ts';
import { hashContent } from '../../sys/files/read-file.ts';

const HASH_PATTERN = /^[0-9a-f]{64}$/;

export function isBlobHash(text: string): boolean {
  return HASH_PATTERN.test(text);
}

/** Throws `INVALID_PARAM` unless `hash` can be the name of a blob. */
export function checkBlobHash(hash: string): void {
  if (isBlobHash(hash)) return;
  throw new MusterError('INVALID_PARAM', `${JSON.stringify(hash)} is not the sha256 of a blob`);
}

export function blobNotFoundError(hash: string): MusterError {
  return new MusterError('NOT_FOUND', `blob ${hash} is not in the data directory`);
}

export interface BlobDirectoryOptions {
  readonly files: FilePort;
  readonly directory: string;
  /** Called before each put, so that other processes know that this store is alive: see `removeUnusedBlobs`. */
  readonly registerStore: () => void;
  /** Called with the path of each blob that was put. The blob may not be durable yet. */
  readonly onUse: (path: string) => void;
}

/** A directory of texts or bytes, each in a file that is named by the sha256 of its content. */
export class BlobDirectory {
  readonly #options: BlobDirectoryOptions;
  /** Hashes of the blobs that were put, including blobs that already existed with the same content. */
  readonly #stored = new Set<string>();

  constructor(options: BlobDirectoryOptions) {
    this.#options = options;
  }

  get directory(): string {
    return this.#options.directory;
  }

  putText(text: string): string {
    return this.putBytes(Buffer.from(text, 'utf8'));
  }

  /** Stores the bytes unless they are stored already. Returns their hash. */
  putBytes(bytes: Buffer): string {
    const hash = hashContent(bytes);
    const path = this.path(hash);
    try {
      this.#options.registerStore();
      if (this.#touch(path)) {
        if (this.#stored.has(hash)) return hash;
        if (!this.#hasContent(path, bytes)) writeViaDraft(this.#options.files, path, bytes);
      } else {
        writeViaDraft(this.#options.files, path, bytes);
      }
    } catch (thrown) {
      throw storageError('write blob', path, thrown);
    }
    // Call this also for a blob that already existed: its writer may have died before the blob was durable.
    this.#options.onUse(path);
    this.#stored.add(hash);
    return hash;
  }

  getText(hash: string): string {
    return this.getBytes(hash).toString('utf8');
  }

  /** Returns the bytes of a blob. Throws `NOT_FOUND`, or `INTERNAL_ERROR` if its content has changed. */
  getBytes(hash: string): Buffer {
    checkBlobHash(hash);
    const path = this.path(hash);
    const bytes = this.#read(path);
    if (bytes === undefined) throw blobNotFoundError(hash);
    if (hashContent(bytes) !== hash) {
      throw new MusterError('INTERNAL_ERROR', `blob ${path} is damaged: its content has changed`);
    }
    return bytes;
  }

  /** The path of a blob. The hash must be checked. */
  path(hash: string): string {
    return join(this.#options.directory, hash);
  }

  /** Checks whether this store has put the blob. If so, a log may be about to refer to it. */
  isInUse(hash: string): boolean {
    return this.#stored.has(hash);
  }

  /**
   * Sets the modification time of a blob to now, so that no process removes the blob as unused. Returns false if the
   * blob does not exist.
   */
  #touch(path: string): boolean {
    try {
      this.#options.files.touch(path);
      return true;
    } catch (thrown) {
      if (systemErrorCode(thrown) === 'ENOENT') return false;
      throw thrown;
    }
  }

  /** Compares the bytes of a blob, because a power loss can leave a file that is empty or incomplete. */
  #hasContent(path: string, bytes: Buffer): boolean {
    const stat = this.#options.files.stat(path);
    return stat?.size === bytes.length && this.#read(path)?.equals(bytes) === true;
  }

  #read(path: string): Buffer | undefined {
    try {
      return readFileIfExists(this.#options.files, path);
    } catch (thrown) {
      throw storageError('read blob', path, thrown);
    }
  }
}
