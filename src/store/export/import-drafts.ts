import { createHash, type Hash } from 'node:crypto';
import { newId } from '../../base/ids.ts';
import { BufferedWriter } from '../log/line-reader.ts';
import type { StoreParts } from '../store-parts.ts';

interface OpenDraft {
  readonly target: string;
  readonly fd: number;
  readonly writer: BufferedWriter;
  readonly hash: Hash;
}

/** Files that are written under temporary names and renamed at the end. One of them is open at a time. */
export class ImportDrafts {
  readonly #parts: StoreParts;
  /** Paths of drafts by the paths of their files. */
  readonly #drafts = new Map<string, string>();
  #open: OpenDraft | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /** Number of drafts. */
  get size(): number {
    return this.#drafts.size;
  }

  has(target: string): boolean {
    return this.#drafts.has(target);
  }

  /** Creates the draft of a file. The draft before it must be finished. */
  begin(target: string): void {
    const { files } = this.#parts;
    const getDraftPath = `${target}.${newId()}.new`;
    const fd = files.openNew(getDraftPath);
    this.#drafts.set(target, getDraftPath);
    const writer = new BufferedWriter(files, fd);
    this.#open = { target, fd, writer, hash: createHash('sha256') };
  }

  write(bytes: Uint8Array): void {
    this.#open?.writer.write(bytes);
    this.#open?.hash.update(bytes);
  }

  /** Finishes the open draft. Returns the sha256 of its bytes. */
  async finish(): Promise<string> {
    const open = this.#open;
    if (open === undefined) return '';
    open.writer.flush();
    if (this.#parts.syncQueue !== undefined) await this.#parts.files.datasync(open.fd);
    this.#close();
    return open.hash.digest('hex');
  }

  /** Returns the path of a file's draft, or of the file itself if it has none. */
  draft(target: string): string {
    return this.#drafts.get(target) ?? target;
  }

  /** Renames a draft to its file. */
  commit(target: string): void {
    this.#parts.files.rename(this.draft(target), target);
    this.#drafts.delete(target);
  }

  discard(target: string): void {
    const draft = this.#drafts.get(target);
    // A deletion of the same task may have removed it.
    if (draft !== undefined && this.#parts.files.stat(draft) !== undefined) {
      this.#parts.files.unlink(draft);
    }
    this.#drafts.delete(target);
  }

  /** Removes all drafts that were not committed. */
  discardAll(): void {
    this.#close();
    for (const target of this.#drafts.keys()) this.discard(target);
  }

  #close(): void {
    if (this.#open !== undefined) this.#parts.files.close(this.#open.fd);
    this.#open = undefined;
  }
}
