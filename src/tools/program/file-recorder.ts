import { MusterError } from '../../base/errors.ts';
import type { Access } from '../../protocol/permission.ts';
import type { CallDetails, FileChange, FileSeen, ToolContext } from '../../protocol/tool.ts';
import { readFullFile, type FullFile } from '../../sys/files/read-file.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { MAX_EDIT_BYTES } from '../shared/file-text.ts';

/** The maximum number of declared files whose contents are compared for one call. */
const MAX_FILES = 100;

/**
 * Records which of the declared files a call of a program's tool has read and changed, by comparing their contents before and
 * after the call. Directories and files larger than an edit may be are left out.
 */
export class FileRecorder {
  readonly #reads: readonly string[];
  readonly #writes: readonly string[];
  readonly #context: ToolContext;
  readonly #before = new Map<string, FullFile | null>();

  constructor({ reads, writes }: Pick<Access, 'reads' | 'writes'>, context: ToolContext) {
    this.#writes = [...new Set(writes)].slice(0, MAX_FILES);
    this.#reads = [...new Set(reads)].slice(0, MAX_FILES);
    this.#context = context;
  }

  /** Stores the present contents of the files that may be changed, so that a rewind can restore them. */
  async keepFormerContents(): Promise<void> {
    for (const path of this.#writes) {
      const file = await this.#read(path);
      if (file === 'unreadable') continue;
      this.#before.set(path, file);
      if (file !== null && !isSecretPath(file.file.real))
        await this.#context.keepFormer?.(file.bytes);
    }
  }

  /** Returns the files that were read and the files that have other contents now. */
  async findChanges(): Promise<CallDetails> {
    const changed: FileChange[] = [];
    for (const [path, before] of this.#before) {
      const after = await this.#read(path);
      if (after === 'unreadable' || after?.hash === before?.hash) continue;
      const real = (after ?? before)?.file.real ?? path;
      const hashes = { before: before?.hash ?? null, after: after?.hash ?? null };
      changed.push({ path: real, ...hashes, unread: true });
    }
    const read: FileSeen[] = [];
    for (const path of this.#reads) {
      const file = await this.#read(path);
      if (file !== null && file !== 'unreadable')
        read.push({ path: file.file.real, hash: file.hash });
    }
    return {
      ...(read.length === 0 ? {} : { read }),
      ...(this.#writes.length === 0 ? {} : { changed }),
    };
  }

  /** Reads a file. Returns null if it does not exist. */
  async #read(path: string): Promise<FullFile | null | 'unreadable'> {
    try {
      // The call may have been stopped, and what it has changed until then counts.
      const signal = new AbortController().signal;
      return await readFullFile(path, this.#context, { maxBytes: MAX_EDIT_BYTES, signal });
    } catch (thrown) {
      if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') return null;
      // A directory, a special file, or one that is too large. The decision was made about its path all the same.
      return 'unreadable';
    }
  }
}
