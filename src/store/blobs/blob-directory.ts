import { join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { writeAllBytes, type FilePort } from '../files/file-port.ts';
import { storageError } from '../files/storage-error.ts';
import { sha256 } from '../../sys/read-file.ts';

const HASH_PATTERN = /^[0-9a-f]{64}$/;

export function isBlobHash(text: string): boolean {
  return HASH_PATTERN.test(text);
}

/** Throws `INVALID_PARAM` for what is not the name of a blob. */
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
  /** Called before each put: whoever has put a blob is known to be alive (see BlobCollection). */
  readonly registerStore: () => void;
  /** Told once of each blob that this process relies on. */
  readonly onUse: (path: string) => void;
}

/** Texts, or the bytes of files, under the hash of their content, one file each. */
export class BlobDirectory {
  readonly #options: BlobDirectoryOptions;
  /** What is known to be there whole. */
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

  putBytes(bytes: Buffer): string {
    const hash = sha256(bytes);
    const path = this.path(hash);
    try {
      this.#options.registerStore();
      if (this.#refresh(path)) {
        if (this.#stored.has(hash)) return hash;
        if (!this.#isThere(path, bytes)) this.#write(path, bytes);
      } else {
        this.#write(path, bytes);
      }
    } catch (thrown) {
      throw storageError('write blob', path, thrown);
    }
    // Another process may have written it and died before it was durable.
    this.#options.onUse(path);
    this.#stored.add(hash);
    return hash;
  }

  getText(hash: string): string {
    return this.getBytes(hash).toString('utf8');
  }

  getBytes(hash: string): Buffer {
    checkBlobHash(hash);
    const path = this.path(hash);
    const bytes = this.#read(path);
    if (bytes === undefined) throw blobNotFoundError(hash);
    if (sha256(bytes) !== hash) {
      throw new MusterError('INTERNAL_ERROR', `blob ${path} is damaged: its content has changed`);
    }
    return bytes;
  }

  /** Where the blob of a checked hash lies. */
  path(hash: string): string {
    return join(this.#options.directory, hash);
  }

  /** Whether this store has put it itself, and may be about to refer to it. */
  isInUse(hash: string): boolean {
    return this.#stored.has(hash);
  }

  /** Makes a blob young, so that nobody takes it for one that is not needed; false: it is not there. */
  #refresh(path: string): boolean {
    try {
      this.#options.files.touch(path);
      return true;
    } catch (thrown) {
      if (systemErrorCode(thrown) === 'ENOENT') return false;
      throw thrown;
    }
  }

  /** Compared whole: a power loss can leave a name with nothing, or half, behind it. */
  #isThere(path: string, bytes: Buffer): boolean {
    const stat = this.#options.files.stat(path);
    return stat?.size === bytes.length && this.#read(path)?.equals(bytes) === true;
  }

  #write(path: string, bytes: Buffer): void {
    const { files } = this.#options;
    const draft = `${path}.${newId()}.new`;
    const fd = files.openNew(draft);
    try {
      try {
        writeAllBytes(files, fd, bytes);
      } finally {
        files.close(fd);
      }
      files.rename(draft, path);
    } catch (thrown) {
      files.unlink(draft);
      throw thrown;
    }
  }

  #read(path: string): Buffer | undefined {
    try {
      return this.#options.files.readFile(path);
    } catch (thrown) {
      if (systemErrorCode(thrown) === 'ENOENT') return undefined;
      throw storageError('read blob', path, thrown);
    }
  }
}
