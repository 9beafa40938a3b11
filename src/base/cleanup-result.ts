/**
 * An entry that a command created under a protected name (`path`), and the location to which it was moved
 * (`keptAt`). If the entry could not be moved, `keptAt` is null and `problem` says why. All paths are absolute.
 */
export type QuarantinedEntry =
  | { readonly path: string; readonly keptAt: string }
  | { readonly path: string; readonly keptAt: null; readonly problem: string };

/** The changes to protected files and names that were found after a command. */
export interface CleanupResult {
  /** New entries that were moved away. */
  readonly removed: readonly QuarantinedEntry[];
  /** Paths that git wrote with the content of a commit. */
  readonly fromCommits: readonly string[];
  /** Paths of protected files that git changed or removed, and that were restored. Default: none. */
  readonly putBack?: readonly string[];
}
