/** The content and the permission bits of a path at one moment. */
export interface PathVersion {
  /**
   * Identifies the content: the SHA-256 in hex of a regular file. Of other contents: `stat:…` for a file that is too
   * large to be hashed, `unknown:…` for an earlier content that was not read, `link:` and the target of a symbolic link,
   * `special:` and the kind of another entry, such as a pipe.
   */
  readonly hash: string;
  /** The permission bits. */
  readonly mode: number;
}

/** The change of one path between two moments. In `before` and `after`, null means that the path did not exist. */
export interface PathChange {
  /** The absolute path, without links. */
  readonly path: string;
  readonly before: PathVersion | null;
  readonly after: PathVersion | null;
  /** True if several commands were running that could have made the change. */
  readonly shared: boolean;
  /** The times, in milliseconds since the epoch, at which the first and the last part of the change were found. */
  readonly since: number;
  readonly until: number;
}

/**
 * Combines two changes of one path, of which `next` is the later one. Returns null if nothing has changed overall. Shared
 * changes remain even then: another command may have recorded only the second one, whose `before` is not the first state.
 */
export function mergeChanges(first: PathChange, next: PathChange): PathChange | null {
  const { before, since } = first;
  const { path, after, until } = next;
  const shared = first.shared || next.shared;
  if (!shared && isSameVersion(before, after)) return null;
  return { path, before, after, shared, since, until };
}

/** Returns true if two versions have the same content and the same permission bits. */
export function isSameVersion(one: PathVersion | null, other: PathVersion | null): boolean {
  return one?.hash === other?.hash && one?.mode === other?.mode;
}

/** The parts of the stats of an entry that show whether it has changed. */
export interface EntryStats {
  readonly kind: 'file' | 'link' | 'special';
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mode: number;
  readonly nlink: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** The result of a comparison of stats: `same`, `changed`, or `unclear` if the content has to be compared. */
export type StatComparison = 'same' | 'changed' | 'unclear';

/**
 * Compares the stats of an entry at two moments.
 *
 * @param isRecent true if the first stats were read so soon after a change that a later change may have the same times
 */
export function compareStats(
  before: EntryStats,
  now: EntryStats,
  { isRecent }: { readonly isRecent: boolean },
): StatComparison {
  if (before.kind !== now.kind || before.size !== now.size) return 'changed';
  const isSame =
    before.dev === now.dev &&
    before.ino === now.ino &&
    before.mode === now.mode &&
    before.mtimeMs === now.mtimeMs &&
    before.ctimeMs === now.ctimeMs;
  return isSame && !isRecent ? 'same' : 'unclear';
}

/**
 * Decides about an entry of the same size whose earlier content is not known: whether it counts as changed. A different
 * time of change with the same time of modification is explained by other permission bits or other names; without such an
 * explanation, a program has probably restored the time of modification.
 */
export function countsAsChanged(before: EntryStats, now: EntryStats): boolean {
  if (before.mtimeMs !== now.mtimeMs || before.ino !== now.ino) return true;
  if (before.ctimeMs === now.ctimeMs) return false;
  return before.mode === now.mode && before.nlink === now.nlink;
}
