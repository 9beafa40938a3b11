/** The content of a file before and after a call. */
export interface ContentChange {
  /** Absolute, without links. */
  readonly path: string;
  /** The text before the call; null if the file did not exist. */
  readonly before: string | null;
  /** The text after the call; null if the file no longer exists. */
  readonly after: string | null;
}

/** The task and the call for which language servers, checkers and formatters work. */
export interface LanguageCall {
  /** The working directory of the task, for the paths in texts. */
  readonly cwd: string;
  /** The roots of the task. Absolute, without links. */
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
}

/** The problems that a call has caused. */
export interface CodeFeedback {
  /** The new problems, as text of language servers and checkers. Empty if there are none. */
  readonly problems: string;
  /** Sentences of Muster about files that could not be checked. */
  readonly notes: readonly string[];
}

/** The language servers, checkers and formatters of the process. All tasks share them. */
export interface LanguagePort {
  /**
   * Finds the problems that changes of files have caused. Waits for servers only as long as the limits allow, and never
   * rejects.
   */
  findNewProblems(changes: readonly ContentChange[], call: LanguageCall): Promise<CodeFeedback>;
}
