import type { PathState } from '../difference.ts';

/** The kind of the entry at a path. A link is not followed. */
export type EntryKind = 'nothing' | 'file' | 'link' | 'directory' | 'special';

/** The tree of the user, into which the changes of a task are merged. Paths are relative to its top. */
export interface UserTree {
  /** True if names that differ only in letter case are the same for the file system. */
  readonly ignoresCase: boolean;
  /** Returns the kind of the entry at a path: `nothing` also below a file or a link. */
  kindOf(path: string): EntryKind;
  /** Returns the content of a file or link; null for everything else. */
  read(path: string): PathState;
  /** Lists the names in a directory. The empty path is the top. Returns none if the path is not a directory. */
  list(directory: string): readonly string[];
}
