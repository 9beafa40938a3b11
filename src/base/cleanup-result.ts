/** An entry that a command made under a protected name, and where it is now; null: it is still there, and why. Absolute paths. */
export type QuarantinedEntry =
  | { readonly path: string; readonly keptAt: string }
  | { readonly path: string; readonly keptAt: null; readonly problem: string };

/** What was found under protected names when a command had ended. */
export interface CleanupResult {
  readonly removed: readonly QuarantinedEntry[];
  /** Paths that git wrote with the content of a commit. */
  readonly fromCommits: readonly string[];
  /** Paths of protected files that git alone has changed or removed, and that are again as they were. Default: none. */
  readonly putBack?: readonly string[];
}
