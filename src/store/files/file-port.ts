export interface FileStat {
  /** Bytes. */
  readonly size: number;
  /** Permission bits, `0o777` at most. */
  readonly mode: number;
  readonly uid: number;
  /** When its content was last changed, or it was touched; milliseconds since the epoch. */
  readonly modified: number;
  /** Tells a file from another one that took its name. */
  readonly inode: number;
  readonly isDirectory: boolean;
}

/**
 * The file system as the store uses it, so that a test can fill the disk or cut the power. Errors are
 * thrown as Node throws them, with a `code`. Only what is said to be durable survives a power loss.
 */
export interface FilePort {
  /** Creates a file for appending, mode 0600 whatever the umask; `EEXIST` when the name is taken. */
  openNew(path: string): number;
  /** Opens a file that exists for appending. */
  openAppend(path: string): number;
  openRead(path: string): number;
  /** One write at the end of the file; may take fewer bytes than given, and says how many. */
  write(fd: number, bytes: Uint8Array): number;
  /** Reads from `position` into the buffer; 0 at the end. */
  readAt(fd: number, into: Uint8Array, position: number): number;
  statOpen(fd: number): FileStat;
  truncate(fd: number, length: number): void;
  /** Makes the bytes of a file durable, not its name. */
  datasync(fd: number): Promise<void>;
  /** The same, blocking: for rare repairs only. */
  datasyncBlocking(fd: number): void;
  close(fd: number): void;
  readFile(path: string): Buffer;
  /** Undefined when there is nothing of that name. Follows links. */
  stat(path: string): FileStat | undefined;
  /** Sets the time of change of a file that exists to now. */
  touch(path: string): void;
  rename(from: string, to: string): void;
  /** A second name for a file; `EEXIST` when that name is taken: atomic, unlike open and write. */
  link(from: string, to: string): void;
  unlink(path: string): void;
  /** Mode 0700 whatever the umask; its parent must exist. */
  makeDirectory(path: string): void;
  list(path: string): readonly string[];
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}

/** Writes all of the bytes, going on where a short write stopped; throws what the write throws. */
export function writeAllBytes(files: FilePort, fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    const count = files.write(fd, written === 0 ? bytes : bytes.subarray(written));
    if (count <= 0) throw new Error('the file system takes no more bytes');
    written += count;
  }
}
