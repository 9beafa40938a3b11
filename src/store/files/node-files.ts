import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import type { FilePort, FileStat } from './file-port.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const PERMISSION_BITS = 0o777;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;

const datasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);

function toFileStat(stats: fs.Stats): FileStat {
  return {
    size: stats.size,
    mode: stats.mode & PERMISSION_BITS,
    uid: stats.uid,
    modified: stats.mtimeMs,
    inode: stats.ino,
    isDirectory: stats.isDirectory(),
  };
}

function openNew(path: string): number {
  const fd = fs.openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  // The umask may have removed permissions of the owner.
  fs.fchmodSync(fd, FILE_MODE);
  return fd;
}

function readFile(path: string): Buffer {
  const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW);
  using _close = atScopeEnd(() => fs.closeSync(fd));
  return fs.readFileSync(fd);
}

function stat(path: string): FileStat | undefined {
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : toFileStat(stats);
}

function touch(path: string): void {
  const now = new Date();
  fs.utimesSync(path, now, now);
}

/**
 * Opens and closes the directory synchronously, because each asynchronous call takes a round of the event loop, and
 * many tasks that begin together would all wait for these rounds.
 */
async function syncDirectory(path: string): Promise<void> {
  const fd = fs.openSync(path, O_RDONLY);
  using _close = atScopeEnd(() => fs.closeSync(fd));
  await fsync(fd);
}

function makeDirectory(path: string): void {
  fs.mkdirSync(path, { mode: DIRECTORY_MODE });
  fs.chmodSync(path, DIRECTORY_MODE);
}

/** With these flags, opening a file follows no link and does not wait if the path is a pipe. */
const PLAIN_FILE_FLAGS = O_NOFOLLOW | O_NONBLOCK;

/** The real file system. */
export const nodeFiles: FilePort = {
  openNew,
  openAppend: (path) => fs.openSync(path, O_WRONLY | O_APPEND | PLAIN_FILE_FLAGS),
  openRead: (path) => fs.openSync(path, O_RDONLY | PLAIN_FILE_FLAGS),
  write: (fd, bytes) => fs.writeSync(fd, bytes),
  readAt: (fd, into, position) => fs.readSync(fd, into, 0, into.length, position),
  statOpen: (fd) => toFileStat(fs.fstatSync(fd)),
  truncate: (fd, length) => fs.ftruncateSync(fd, length),
  datasync,
  datasyncBlocking: (fd) => fs.fdatasyncSync(fd),
  close: (fd) => fs.closeSync(fd),
  readFile,
  stat,
  touch,
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  makeDirectory,
  list: (path) => fs.readdirSync(path),
  syncDirectory,
};
