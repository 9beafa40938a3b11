import * as fs from 'node:fs';
import type { FilePort, FileStat } from './file-port.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const PERMISSION_BITS = 0o777;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;

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
  // A umask can take bits away from the owner, too.
  fs.fchmodSync(fd, FILE_MODE);
  return fd;
}

function readWhole(path: string): Buffer {
  const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW);
  try {
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function stat(path: string): FileStat | undefined {
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : toFileStat(stats);
}

function touch(path: string): void {
  const now = new Date();
  fs.utimesSync(path, now, now);
}

function datasync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

/**
 * Only the sync waits for a thread: each wait costs a round of the event loop, and where many tasks begin
 * together all of them wait for it.
 */
async function syncDirectory(path: string): Promise<void> {
  const fd = fs.openSync(path, O_RDONLY);
  try {
    await fsync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function fsync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

function makeDirectory(path: string): void {
  fs.mkdirSync(path, { mode: DIRECTORY_MODE });
  fs.chmodSync(path, DIRECTORY_MODE);
}

/** A link is not followed, and a pipe that lies where a file should is not waited for. */
const AS_IT_LIES = O_NOFOLLOW | O_NONBLOCK;

/** The real file system. */
export const nodeFiles: FilePort = {
  openNew,
  openAppend: (path) => fs.openSync(path, O_WRONLY | O_APPEND | AS_IT_LIES),
  openRead: (path) => fs.openSync(path, O_RDONLY | AS_IT_LIES),
  write: (fd, bytes) => fs.writeSync(fd, bytes),
  readAt: (fd, into, position) => fs.readSync(fd, into, 0, into.length, position),
  statOpen: (fd) => toFileStat(fs.fstatSync(fd)),
  truncate: (fd, length) => fs.ftruncateSync(fd, length),
  datasync,
  datasyncBlocking: (fd) => fs.fdatasyncSync(fd),
  close: (fd) => fs.closeSync(fd),
  readFile: readWhole,
  stat,
  touch,
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  makeDirectory,
  list: (path) => fs.readdirSync(path),
  syncDirectory,
};
