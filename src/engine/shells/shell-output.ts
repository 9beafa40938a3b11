import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { KEEP_BYTES, type ByteFilter } from '../../protocol/tool.ts';

const { O_APPEND, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * What a background shell writes, in a file that is there, up to a limit in bytes; more calls
 * `onTooMuch`, once. A disk that takes no more loses output and not the shell.
 */
export class ShellOutput {
  readonly path: string;
  private readonly fd: number;
  private readonly most: number;
  private readonly onTooMuch: () => void;
  private readonly filter: ByteFilter;
  private bytes = 0;
  private lost: string | null = null;

  /** Throws MusterError. */
  constructor(path: string, most: number, onTooMuch: () => void, filter: ByteFilter = KEEP_BYTES) {
    this.filter = filter;
    this.path = path;
    this.fd = openForAppend(path);
    this.most = most;
    this.onTooMuch = onTooMuch;
  }

  /** Why not all of the output is in the file; null while it is. */
  get problem(): string | null {
    return this.lost;
  }

  write(chunk: Buffer): void {
    if (this.lost !== null) return;
    const kept = chunk.subarray(0, this.most - this.bytes);
    this.bytes += chunk.length;
    if (!this.append(this.filter.write(kept))) return;
    if (this.bytes <= this.most) return;
    this.lost = `it is more than the limit output.spill_bytes = ${this.most}`;
    this.onTooMuch();
  }

  close(): void {
    this.append(this.filter.end());
    closeSync(this.fd);
  }

  /** False: the disk takes no more. */
  private append(bytes: Buffer): boolean {
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.fd, bytes, done);
      return true;
    } catch (thrown) {
      this.lost = errorMessage(thrown);
      return false;
    }
  }
}

function openForAppend(path: string): number {
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW);
  } catch (thrown) {
    const message = `The shell was not started, since its output can't be kept: ${errorMessage(thrown)}`;
    throw new MusterError('INTERNAL_ERROR', message, { cause: thrown });
  }
}
