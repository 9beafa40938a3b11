/** A question about the location of something: one line of a question file. */
export interface LocationQuestion {
  /** The commit whose tree is searched. */
  readonly workspace: string;
  readonly question: string;
  /** Paths in that tree. Any one of them is a right answer. */
  readonly answers: readonly string[];
  readonly language: string;
}
