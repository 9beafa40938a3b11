/** A command that ran. */
export interface ClaimRun {
  readonly command: string;
  /** `killed`: a signal ended it; `unknown`: it may be running still, or nobody knows how it ended. */
  readonly exitCode: number | 'killed' | 'unknown';
}

/** What an answer is held against: the receipt of its task, with all that was done below it. */
export interface ClaimFacts {
  /** What the task was asked for, the newest request first. */
  readonly prompt: string;
  readonly cwd: string;
  /** Paths that were read, absolute. */
  readonly read: readonly string[];
  /** Paths that were changed, absolute. */
  readonly changed: readonly string[];
  /** Commands in the order in which they ended, a list for each task: between tasks there is no order. */
  readonly runs: readonly (readonly ClaimRun[])[];
  /** Names of the tools that ran. */
  readonly tools: ReadonlySet<string>;
  /** Something was done of which it is not known what: then only what needs no receipt is checked. */
  readonly hasGaps: boolean;
}
