import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { KEEP_BYTES, type ByteFilter } from '../../protocol/tool.ts';

const { O_APPEND, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Writes the output of a background shell to an existing file, up to a limit in bytes. Calls `onLimit` once
 * when the shell writes more. When the disk is full, output is lost, but the shell goes on.
 */
export class ShellOutput {
  readonly path: string;
  private readonly fd: number;
  private readonly maxBytes: number;
  private readonly onLimit: () => void;
  private readonly filter: ByteFilter;
  private bytes = 0;
  private loss: string | null = null;

  /** Throws MusterError when the file can't be opened. */
  constructor(
    path: string,
    maxBytes: number,
    onLimit: () => void,
    filter: ByteFilter = KEEP_BYTES,
  ) {
    this.filter = filter;
    this.path = path;
    this.fd = openForAppend(path);
    this.maxBytes = maxBytes;
    this.onLimit = onLimit;
  }

  /** The reason why output is missing in the file; null while all of it is there. */
  get problem(): string | null {
    return this.loss;
  }

  write(chunk: Buffer): void {
    if (this.loss !== null) return;
    const kept = chunk.subarray(0, this.maxBytes - this.bytes);
    this.bytes += chunk.length;
    if (!this.append(this.filter.write(kept))) return;
    if (this.bytes <= this.maxBytes) return;
    this.loss = `the output is more than the limit output.spill_bytes = ${this.maxBytes}`;
    this.onLimit();
  }

  close(): void {
    this.append(this.filter.end());
    closeSync(this.fd);
  }

  /** Returns false when the disk takes no more. */
  private append(bytes: Buffer): boolean {
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.fd, bytes, done);
      return true;
    } catch (thrown) {
      this.loss = errorMessage(thrown);
      return false;
    }
  }
}

function openForAppend(path: string): number {
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW);
  } catch (thrown) {
    const message = `The shell was not started, since its output file can't be opened: ${errorMessage(thrown)}`;
    throw new MusterError('INTERNAL_ERROR', message, { cause: thrown });
  }
}
