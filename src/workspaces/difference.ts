/** The content of a path. Null means that nothing is there. Directories exist only through their files. */
export type PathState =
  | { readonly kind: 'file'; readonly executable: boolean; readonly bytes: Buffer }
  | { readonly kind: 'link'; readonly target: string }
  | null;

/** A path that a task has changed. Paths are relative and have `/` between their parts. */
export interface PathDifference {
  readonly path: string;
  /** The old path of a renamed file. `before` is then the content at that path. Default: not renamed. */
  readonly from?: string;
  readonly before: PathState;
  readonly after: PathState;
  /**
   * Says why lines of this file can't be merged, such as `a filter of git manages its content`. Default: they can, unless
   * the file is binary.
   */
  readonly unmergeable?: string;
}

/** Tells whether two paths have the same content. */
export function isSameState(a: PathState, b: PathState): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === 'link') return b.kind === 'link' && a.target === b.target;
  return b.kind === 'file' && a.executable === b.executable && a.bytes.equals(b.bytes);
}
