import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { decodeIndex, encodeIndex, type StoredIndex } from './index-format.ts';

/** Indexes of so many directories are kept. */
const MOST_KEPT = 20;
const ENDING = '.idx';
const UNFINISHED = '.tmp';
/** What has not been finished by then never will be: whoever wrote it is dead. Milliseconds. */
const ABANDONED_MS = 600_000;
/** A larger one is none of ours: twice what 100,000 files of source need. */
const MAX_BYTES = 512 * 1024 * 1024;
const BLOCK_BYTES = 1 << 20;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Where the index of a directory (absolute, real) is kept. */
export function indexPath(indexDirectory: string, directory: string): string {
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 32);
  return join(indexDirectory, `${name}${ENDING}`);
}

/** Null where there is none, or none that can be used: it is only a copy of what the files say. */
export function loadIndex(path: string): StoredIndex | null {
  try {
    const index = decodeIndex(readRegular(path));
    noteUse(path);
    return index;
  } catch {
    // Missing, torn, damaged, no file at all or not to be read: the files are read instead.
    return null;
  }
}

/** Where nothing changes it is not written again, and is of use all the same. */
function noteUse(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Gone meanwhile, or not to be written: then it cannot be forgotten either, or is already.
  }
}

/** Where it cannot be kept (no room, no right) the next question reads the files again. */
export function saveIndex(path: string, index: StoredIndex): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}${UNFINISHED}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeAll(file, encodeIndex(index));
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    forgetOldest(dirname(path));
  } catch {
    // Nothing depends on it.
    discard(temporary);
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It is not there, or will be found abandoned.
  }
}

function readRegular(path: string): Uint8Array {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error('no index');
    const bytes = new Uint8Array(stats.size);
    for (let at = 0; at < bytes.length;) {
      const read = readSync(file, bytes, at, bytes.length - at, at);
      if (read === 0) throw new Error('it became shorter');
      at += read;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, pieces: Iterable<Uint8Array>): void {
  const block = new Uint8Array(BLOCK_BYTES);
  let held = 0;
  for (const piece of pieces) {
    if (held + piece.length > block.length) {
      writeWhole(file, block.subarray(0, held));
      held = 0;
    }
    if (piece.length > block.length) {
      writeWhole(file, piece);
    } else {
      block.set(piece, held);
      held += piece.length;
    }
  }
  writeWhole(file, block.subarray(0, held));
}

/** On a disk that is nearly full less is written than was asked for. */
function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

/** Of directories that nobody has asked about for longest, and what was never finished. */
function forgetOldest(indexDirectory: string): void {
  const entries = readdirSync(indexDirectory).flatMap((name) => {
    const path = join(indexDirectory, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true ? [{ path, used: stats.mtimeMs }] : [];
  });
  const kept = entries.filter(({ path }) => path.endsWith(ENDING));
  const oldest = kept.toSorted((a, b) => b.used - a.used).slice(MOST_KEPT);
  const abandoned = entries.filter(
    ({ path, used }) => path.endsWith(UNFINISHED) && used < Date.now() - ABANDONED_MS,
  );
  for (const { path } of [...oldest, ...abandoned]) rmSync(path, { force: true });
}
