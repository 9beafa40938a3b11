import { writeAllBytes, type FilePort } from '../../src/store/files/file-port.ts';
import { PowerLossFiles } from '../store/power-loss-files.ts';

/** A change to the disk, or a sync. Descriptors are those of the recorded run. */
export type DiskStep =
  | { readonly kind: 'openNew' | 'openAppend'; readonly path: string; readonly fd: number }
  | { readonly kind: 'write'; readonly path: string; readonly fd: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly fd: number; readonly length: number }
  | { readonly kind: 'datasync'; readonly fd: number }
  | { readonly kind: 'close'; readonly fd: number }
  | { readonly kind: 'rename' | 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'unlink' | 'makeDirectory' | 'syncDirectory'; readonly path: string };

/** A disk in memory that keeps what was done to it, step by step, in order. */
export class RecordedFiles implements FilePort {
  readonly steps: DiskStep[] = [];
  readonly #disk = new PowerLossFiles();
  readonly #paths = new Map<number, string>();

  openNew(path: string): number {
    return this.#opened('openNew', path, this.#disk.openNew(path));
  }

  openAppend(path: string): number {
    return this.#opened('openAppend', path, this.#disk.openAppend(path));
  }

  openRead(path: string): number {
    return this.#disk.openRead(path);
  }

  write(fd: number, bytes: Uint8Array): number {
    const path = this.#paths.get(fd) ?? '';
    this.steps.push({ kind: 'write', path, fd, bytes: Buffer.from(bytes) });
    return this.#disk.write(fd, bytes);
  }

  readAt(fd: number, into: Uint8Array, position: number): number {
    return this.#disk.readAt(fd, into, position);
  }

  statOpen(fd: number) {
    return this.#disk.statOpen(fd);
  }

  truncate(fd: number, length: number): void {
    this.steps.push({ kind: 'truncate', fd, length });
    this.#disk.truncate(fd, length);
  }

  async datasync(fd: number): Promise<void> {
    this.datasyncBlocking(fd);
  }

  datasyncBlocking(fd: number): void {
    this.steps.push({ kind: 'datasync', fd });
    this.#disk.datasyncBlocking(fd);
  }

  close(fd: number): void {
    // One that was opened for reading is nothing that was done to the disk.
    if (this.#paths.delete(fd)) this.steps.push({ kind: 'close', fd });
    this.#disk.close(fd);
  }

  readFile(path: string): Buffer {
    return this.#disk.readFile(path);
  }

  stat(path: string) {
    return this.#disk.stat(path);
  }

  touch(path: string): void {
    this.#disk.touch(path);
  }

  rename(from: string, to: string): void {
    this.#disk.rename(from, to);
    this.steps.push({ kind: 'rename', from, to });
  }

  link(from: string, to: string): void {
    this.#disk.link(from, to);
    this.steps.push({ kind: 'link', from, to });
  }

  unlink(path: string): void {
    this.#disk.unlink(path);
    this.steps.push({ kind: 'unlink', path });
  }

  makeDirectory(path: string): void {
    this.#disk.makeDirectory(path);
    this.steps.push({ kind: 'makeDirectory', path });
  }

  list(path: string): readonly string[] {
    return this.#disk.list(path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.steps.push({ kind: 'syncDirectory', path });
    await this.#disk.syncDirectory(path);
  }

  #opened(kind: 'openNew' | 'openAppend', path: string, fd: number): number {
    this.#paths.set(fd, path);
    this.steps.push({ kind, path, fd });
    return fd;
  }
}

/** A disk on which recorded steps are done again, one after the other. */
export class ReplayedDisk<Files extends FilePort> {
  readonly files: Files;
  readonly #fds = new Map<number, number>();

  constructor(files: Files) {
    this.files = files;
  }

  do(step: DiskStep): void {
    const { files } = this;
    switch (step.kind) {
      case 'openNew':
      case 'openAppend':
        this.#fds.set(step.fd, files[step.kind](step.path));
        return;
      case 'write':
        writeAllBytes(files, this.#fd(step.fd), step.bytes);
        return;
      case 'truncate':
        files.truncate(this.#fd(step.fd), step.length);
        return;
      case 'datasync':
        files.datasyncBlocking(this.#fd(step.fd));
        return;
      case 'close':
        files.close(this.#fd(step.fd));
        return;
      case 'rename':
      case 'link':
        files[step.kind](step.from, step.to);
        return;
      case 'unlink':
      case 'makeDirectory':
        files[step.kind](step.path);
        return;
      case 'syncDirectory':
        // In memory it is done when it returns.
        void files.syncDirectory(step.path);
        return;
    }
  }

  /** The first `count` bytes of a write, as a process leaves it that dies in its middle. */
  doHalf(step: Extract<DiskStep, { kind: 'write' }>, count: number): void {
    this.files.write(this.#fd(step.fd), step.bytes.subarray(0, count));
  }

  /** Takes a half write back, so that the whole one can follow. */
  undoHalf(step: Extract<DiskStep, { kind: 'write' }>, count: number): void {
    const fd = this.#fd(step.fd);
    this.files.truncate(fd, this.files.statOpen(fd).size - count);
  }

  #fd(recorded: number): number {
    const fd = this.#fds.get(recorded);
    if (fd === undefined) throw new Error(`descriptor ${recorded} was never opened`);
    return fd;
  }
}

/** The disk after these steps. */
export function replay(steps: readonly DiskStep[]): PowerLossFiles {
  return replayOn(new PowerLossFiles(), steps);
}

/** The steps done on an empty disk. */
export function replayOn<Files extends FilePort>(files: Files, steps: readonly DiskStep[]): Files {
  const disk = new ReplayedDisk(files);
  for (const step of steps) disk.do(step);
  return files;
}
