/** The side of a landing: the state before it, or the state after it. */
export type LandingSide = 'before' | 'after';

/** The handling of what somebody else has changed: it is left as it is, or the operation fails before it. */
export type ForeignChanges = 'leave' | 'refuse';

/** A file as the index of git records it. */
export interface LandedIndexEntry {
  /** The mode in octal digits, such as `100644`. */
  readonly mode: string;
  /** The id of the blob. */
  readonly object: string;
}

/** The changes of a landing to a repository, in addition to the files of the working tree. */
export interface GitChange {
  /** The entries of the user's index. Null means that the path has no entry. */
  readonly index: readonly {
    readonly path: string;
    readonly before: LandedIndexEntry | null;
    readonly after: LandedIndexEntry | null;
  }[];
  /** The ref that moves, with its commits. Null means that the ref does not exist. */
  readonly ref: {
    readonly name: string;
    readonly before: string | null;
    readonly after: string | null;
  } | null;
}

/** The part of a change that can be undone. */
export interface UndoableChange {
  readonly change: GitChange | null;
  /** Describes each entry, or the ref, that stays as it is. */
  readonly left: readonly string[];
}

/** The repository of the source, as a landing needs it. */
export interface GitPort {
  /**
   * Brings the index and the ref to a side. What is there already stays as it is, so the method can be repeated after a
   * crash at any point. Returns a description of each entry, and of the ref, that has neither of the two states and was
   * left as it is. With `refuse`, rejects with CONFLICT instead. The next call for the other side with `leave` must then
   * succeed.
   */
  bringTo(
    side: LandingSide,
    source: string,
    change: GitChange,
    foreignChanges: ForeignChanges,
  ): Promise<readonly string[]>;
  /**
   * Finds the part of a landed change that can still be undone: nothing if the commit is not the last one of the current
   * branch any more, otherwise the ref and the entries that nobody has changed since.
   */
  findUndoable(source: string, change: GitChange): Promise<UndoableChange>;
}
