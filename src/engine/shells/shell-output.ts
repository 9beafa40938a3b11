import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { MusterError, errorMessage } from '../../base/errors.ts';
import { PASS_THROUGH_FILTER, type ByteFilter } from '../../protocol/tool.ts';

const { O_APPEND, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Writes the output of a background shell to an existing file, up to a limit in bytes. Calls `onLimit` once when the
 * shell writes more. When the disk is full, further output is discarded, but the shell keeps running.
 */
export class ShellOutput {
  readonly path: string;
  private readonly fd: number;
  private readonly maxBytes: number;
  private readonly onLimit: () => void;
  private readonly filter: ByteFilter;
  private byteCount = 0;
  private missingReason: string | null = null;

  /** Throws MusterError when the file can't be opened. */
  constructor(
    path: string,
    maxBytes: number,
    onLimit: () => void,
    filter: ByteFilter = PASS_THROUGH_FILTER,
  ) {
    this.filter = filter;
    this.path = path;
    this.fd = openForAppend(path);
    this.maxBytes = maxBytes;
    this.onLimit = onLimit;
  }

  /** The reason why output is missing in the file; null as long as the output is complete. */
  get problem(): string | null {
    return this.missingReason;
  }

  write(chunk: Buffer): void {
    if (this.missingReason !== null) return;
    const allowed = chunk.subarray(0, this.maxBytes - this.byteCount);
    this.byteCount += chunk.length;
    if (!this.append(this.filter.write(allowed))) return;
    if (this.byteCount <= this.maxBytes) return;
    this.missingReason = `the output is more than the limit output.spill_bytes = ${this.maxBytes}`;
    this.onLimit();
  }

  close(): void {
    this.append(this.filter.end());
    closeSync(this.fd);
  }

  /** Returns false when the bytes can't be written. */
  private append(bytes: Buffer): boolean {
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.fd, bytes, done);
      return true;
    } catch (thrown) {
      this.missingReason = errorMessage(thrown);
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
