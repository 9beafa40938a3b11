import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { atScopeEnd } from '../../../base/at-scope-end.ts';
import { systemErrorCode } from '../../../base/errors.ts';
import { readWithLimit } from '../read-at-most.ts';
import { hashContent } from '../read-file.ts';
import type { EntryStats } from './path-change.ts';

/** The maximum size in bytes of a file that is hashed. */
const MAX_HASHED_BYTES = 32 * 1024 * 1024;

/** The content of an entry. */
export interface ReadContent {
  /** The identification as in `PathVersion`; null if the content was not read. */
  readonly hash: string | null;
  /** The bytes of a file that was read. */
  readonly bytes: Buffer | null;
}

const UNREAD: ReadContent = { hash: null, bytes: null };

/** Returns the stats of an entry; undefined if it does not exist, and `unreadable` if it cannot be inspected. */
export function readStats(path: string): Stats | undefined | 'unreadable' {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOTDIR' || code === 'ENAMETOOLONG' ? undefined : 'unreadable';
  }
}

/** Selects the stats that show whether an entry other than a directory has changed. */
export function toEntryStats(stats: Stats): EntryStats {
  const { dev, ino, size, mode, nlink, mtimeMs, ctimeMs } = stats;
  const kind = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'special';
  return { kind, dev, ino, size, mode: mode & 0o7777, nlink, mtimeMs, ctimeMs };
}

/**
 * Reads the content of an entry that is not a directory. Never blocks, and follows no link. A file with more than
 * `maxBytes` is not read.
 */
export function readContent(path: string, stats: EntryStats, maxBytes: number): ReadContent {
  try {
    if (stats.kind === 'link') return { hash: `link:${readlinkSync(path)}`, bytes: null };
    if (stats.kind === 'special') return { hash: describeSpecial(path), bytes: null };
    if (stats.size > MAX_HASHED_BYTES) return { hash: describeLargeFile(path), bytes: null };
    if (stats.size > maxBytes) return UNREAD;
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    using _close = atScopeEnd(() => closeSync(descriptor));
    const bytes = fstatSync(descriptor).isFile()
      ? readWithLimit(descriptor, MAX_HASHED_BYTES)
      : undefined;
    if (bytes !== undefined) return { hash: hashContent(bytes), bytes };
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
  // The file is closed to this user, or is being replaced at this moment.
  return UNREAD;
}

/** Identifies a content that was not read. */
export function describeUnknown({ ino, size, mtimeMs }: EntryStats): string {
  return `unknown:${ino}:${size}:${mtimeMs}`;
}

/** Identifies a large file in the same way as Read and Edit do. */
function describeLargeFile(path: string): string {
  const { dev, ino, size, mtimeNs } = lstatSync(path, { bigint: true });
  return `stat:${dev}:${ino}:${size}:${mtimeNs}`;
}

function describeSpecial(path: string): string {
  const stats = lstatSync(path);
  return `special:${stats.isFIFO() ? 'pipe' : stats.isSocket() ? 'socket' : 'device'}`;
}
