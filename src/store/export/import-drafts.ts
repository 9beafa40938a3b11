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

/** Files that are written beside their places and get their names last; one is open at a time. */
export class ImportDrafts {
  readonly #parts: StoreParts;
  /** Target to draft. */
  readonly #drafts = new Map<string, string>();
  #open: OpenDraft | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /** How many there are. */
  get size(): number {
    return this.#drafts.size;
  }

  has(target: string): boolean {
    return this.#drafts.has(target);
  }

  /** Begins the draft of a file. The one before it must be finished. */
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

  /** Ends the open draft; returns the sha256 of what was written. */
  async finish(): Promise<string> {
    const open = this.#open;
    if (open === undefined) return '';
    open.writer.flush();
    if (this.#parts.syncQueue !== undefined) await this.#parts.files.datasync(open.fd);
    this.#close();
    return open.hash.digest('hex');
  }

  /** The draft of a file that is there already. */
  draft(target: string): string {
    return this.#drafts.get(target) ?? target;
  }

  /** Gives a file its name. */
  commit(target: string): void {
    this.#parts.files.rename(this.draft(target), target);
    this.#drafts.delete(target);
  }

  discard(target: string): void {
    const draft = this.#drafts.get(target);
    // A deletion of the same task may have taken it away.
    if (draft !== undefined && this.#parts.files.stat(draft) !== undefined) {
      this.#parts.files.unlink(draft);
    }
    this.#drafts.delete(target);
  }

  /** Removes all that have no names yet. */
  discardAll(): void {
    this.#close();
    for (const target of this.#drafts.keys()) this.discard(target);
  }

  #close(): void {
    if (this.#open !== undefined) this.#parts.files.close(this.#open.fd);
    this.#open = undefined;
  }
}
