/** The side of a landing: the state before it, or the state after it. */
export type LandingSide = 'before' | 'after';

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

/** The repository of the source, as a landing needs it. */
export interface GitPort {
  /**
   * Brings the index and the ref to a side. What is there already stays as it is, so the method can be repeated after a
   * crash at any point. Rejects with CONFLICT if an entry or the ref has neither of the two states. The next call for
   * the other side must then succeed.
   */
  bringTo(side: LandingSide, source: string, change: GitChange): Promise<void>;
}
