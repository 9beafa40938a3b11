import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import { KEEP_BYTES, type ByteFilter, type ToolCaps } from '../../protocol/tool.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
/** The room that is kept for the lines that describe the run. */
const NOTE_BYTES = 1000;

/**
 * Holds the output of a command. The beginning and the end stay in memory, together within `resultBytes`. Longer
 * output is written to the spill file, up to `spillBytes`.
 */
export class OutputBuffer {
  total = 0;
  /** The path of the spill file; undefined while the output fits into memory. */
  spilledTo: string | undefined;
  /** Why the spill file could not be written, for example a full disk. The command goes on. */
  spillProblem: string | undefined;

  readonly #caps: ToolCaps;
  readonly #spillPath: () => string;
  readonly #filter: ByteFilter;
  readonly #half: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #spill: number | undefined;

  /** `filter` redacts secrets from what is written to the spill file. */
  constructor(caps: ToolCaps, spillPath: () => string, filter: ByteFilter = KEEP_BYTES) {
    this.#caps = caps;
    this.#spillPath = spillPath;
    this.#filter = filter;
    this.#half = Math.max(0, Math.floor((caps.resultBytes - NOTE_BYTES) / 2));
  }

  get isOverSpill(): boolean {
    return this.total > this.#caps.spillBytes;
  }

  add(chunk: Buffer): void {
    this.total += chunk.length;
    if (this.spilledTo === undefined && this.total > this.#half * 2) this.#startSpill();
    this.#writeSpill(chunk);
    const headRoom = this.#half - this.#headBytes;
    const toHead = chunk.subarray(0, headRoom);
    if (toHead.length > 0) {
      this.#head.push(toHead);
      this.#headBytes += toHead.length;
    }
    this.#addToTail(chunk.subarray(toHead.length));
  }

  /** Returns the bytes in memory, and how many are missing between `head` and `tail`. */
  kept(): { readonly head: Buffer; readonly tail: Buffer; readonly missing: number } {
    const tail = Buffer.concat(this.#tail);
    const end = tail.subarray(Math.max(0, tail.length - this.#half));
    const missing = this.total - this.#headBytes - end.length;
    return { head: Buffer.concat(this.#head), tail: end, missing };
  }

  close(): void {
    this.#append(this.#filter.end());
    this.#closeSpill();
  }

  #closeSpill(): void {
    if (this.#spill !== undefined) closeSync(this.#spill);
    this.#spill = undefined;
  }

  #addToTail(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    for (let first = this.#tail[0]; first !== undefined; first = this.#tail[0]) {
      if (this.#tailBytes - first.length < this.#half) return;
      this.#tail.shift();
      this.#tailBytes -= first.length;
    }
  }

  #startSpill(): void {
    try {
      const path = this.#spillPath();
      this.#spill = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
      this.spilledTo = path;
    } catch (thrown) {
      this.spillProblem ??= errorMessage(thrown);
      return;
    }
    for (const chunk of [...this.#head, ...this.#tail]) this.#writeSpill(chunk);
  }

  #writeSpill(chunk: Buffer): void {
    if (this.#spill !== undefined && !this.isOverSpill) this.#append(this.#filter.write(chunk));
  }

  #append(bytes: Buffer): void {
    if (this.#spill === undefined) return;
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.#spill, bytes, done);
    } catch (thrown) {
      this.spillProblem = errorMessage(thrown);
      this.#closeSpill();
    }
  }
}
