/** Where something is to be found, as a line of a file of questions. */
export interface LocationQuestion {
  /** The commit whose tree is searched. */
  readonly workspace: string;
  readonly question: string;
  /** Paths in that tree: one of them is right. */
  readonly answers: readonly string[];
  readonly language: string;
}
