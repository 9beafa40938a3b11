/**
 * An entry that a command created under a protected name, and its new location; null with a problem if it could
 * not be moved. Absolute paths.
 */
export type QuarantinedEntry =
  | { readonly path: string; readonly keptAt: string }
  | { readonly path: string; readonly keptAt: null; readonly problem: string };

/** The changes under protected names that were found after a command. */
export interface CleanupResult {
  readonly removed: readonly QuarantinedEntry[];
  /** Paths that git wrote with the content of a commit. */
  readonly fromCommits: readonly string[];
  /** Paths of protected files that git changed or removed, and that were restored. Default: none. */
  readonly putBack?: readonly string[];
}
