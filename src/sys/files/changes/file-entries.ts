import { hashGitObject } from '../../git/object-reader.ts';
import { hashContent } from '../read-file.ts';
import { readContent, type ReadContent } from './entry-content.ts';
import { TrackedContents, type GitContent, type KeptContents } from './kept-contents.ts';
import { compareStats, countsAsChanged, type EntryStats } from './path-change.ts';

/** The number of small files whose content is kept when a root is looked at for the first time. */
const MAX_FILES_KEPT_AT_FIRST = 2_000;
/** File systems update their times in steps. Two changes within such a step may leave the same times. */
const TIME_STEP_MS = 50;

/** A known file, link or other entry that is not a directory. */
export interface FileEntry {
  readonly kind: 'file';
  readonly stats: EntryStats;
  /** True if the entry had just been changed when its stats were read. */
  readonly isRecent: boolean;
  /** Identifies the content as in `PathVersion`; null if it was not read. */
  readonly hash: string | null;
  /** The content, or null if it is not kept. */
  readonly kept: Buffer | null;
  /** The object of git with the content; null if there is none. */
  readonly git: GitContent | null;
}

interface CompareOptions {
  readonly needsContent: boolean;
  readonly isFirst: boolean;
  readonly maxBytes: number;
}

/** The result of a comparison of an entry with the disk. */
interface ComparedEntry {
  /** The entry before; null if it is new. Its hash is known if only the permission bits have changed. */
  readonly before: FileEntry | null;
  readonly entry: FileEntry;
  readonly isChanged: boolean;
}

/** Compares entries of a root with the disk, and keeps their contents where that is possible. */
export class FileEntries {
  private readonly contents: KeptContents;
  private readonly tracked: TrackedContents;
  private keptAtFirst = 0;

  constructor({ root, contents }: { readonly root: string; readonly contents: KeptContents }) {
    this.contents = contents;
    this.tracked = new TrackedContents(root);
  }

  /**
   * Compares an entry with its present stats. Returns null if it is the same.
   *
   * @param needsContent true if the new content of a changed file has to be known
   * @param isFirst true if the root is looked at for the first time
   * @param maxBytes the size of the largest file that may be read
   */
  compare(
    path: string,
    known: FileEntry | undefined,
    stats: EntryStats,
    { needsContent, isFirst, maxBytes }: CompareOptions,
  ): ComparedEntry | null {
    const comparison = known === undefined ? 'changed' : compareStats(known.stats, stats, known);
    if (comparison === 'same') return null;
    const git = needsContent ? null : this.tracked.find(path, stats);
    const isNeeded =
      needsContent || (git === null && this.isWorthKeeping(path, stats, { isFirst }));
    const content = isNeeded ? readContent(path, stats, maxBytes) : null;
    const isSame =
      known !== undefined &&
      (comparison === 'unclear'
        ? hasSameContent(known, stats, content)
        : wasReadAhead(known, content));
    if (isSame) {
      const hash = content?.hash ?? known.hash;
      const entry = { ...known, stats, isRecent: isRecent(stats), hash };
      return { before: { ...known, hash }, entry, isChanged: known.stats.mode !== stats.mode };
    }
    if (known !== undefined) this.forget(known);
    const kept = this.contents.keep(path, content?.bytes ?? null);
    const hash = content?.hash ?? null;
    const entry: FileEntry = { kind: 'file', stats, isRecent: isRecent(stats), hash, kept, git };
    // A large file is identified by its stats, which a program can restore.
    const isHidden = known !== undefined && known.hash === hash;
    return {
      before: isHidden ? { ...known, hash: null } : (known ?? null),
      entry,
      isChanged: true,
    };
  }

  /** Gives the room of a content back. */
  forget({ kept }: FileEntry): void {
    this.contents.release(kept);
  }

  private isWorthKeeping(
    path: string,
    { kind, size }: EntryStats,
    { isFirst }: { readonly isFirst: boolean },
  ): boolean {
    if (kind !== 'file') return true;
    if (!this.contents.hasRoomFor(path, size)) return false;
    if (!isFirst) return true;
    this.keptAtFirst += 1;
    return this.keptAtFirst <= MAX_FILES_KEPT_AT_FIRST;
  }
}

/**
 * Decides whether an entry of another size has the content that is known. The stats are read before the content, so those
 * of a file that was being written may be older.
 */
function wasReadAhead({ hash }: FileEntry, content: ReadContent | null): boolean {
  return content !== null && content.bytes !== null && content.hash === hash;
}

/** Decides whether an entry with the same kind and size has still the same content. */
function hasSameContent(known: FileEntry, stats: EntryStats, content: ReadContent | null): boolean {
  const hash = known.hash ?? (known.kept === null ? null : hashContent(known.kept));
  const isRead = content !== null && (content.bytes !== null || stats.kind !== 'file');
  if (!isRead) return !countsAsChanged(known.stats, stats);
  if (hash !== null) return hash === content.hash;
  // A filter of git may have changed the content. This is decided when the object has been read.
  if (known.git !== null) return isObject(content, known.git);
  return !countsAsChanged(known.stats, stats);
}

function isObject({ bytes }: ReadContent, { id }: GitContent): boolean {
  return bytes !== null && hashGitObject('blob', bytes, id.length) === id;
}

function isRecent({ ctimeMs }: EntryStats): boolean {
  return Math.abs(Date.now() - ctimeMs) < TIME_STEP_MS;
}
