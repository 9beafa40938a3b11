/** What stands before the prompt of each task that one message has made with `context: summary`. */
export interface SummaryText {
  readonly text: string;
  /** The task that has asked for it; null: no summary could be had, and why `because` says. */
  readonly from: string | null;
  readonly because: string | null;
}

/** By conversation; null: whoever asked was stopped, or had no budget for it, and the next one asks. */
export type SharedSummaries = Map<string, Promise<SummaryText | null>>;
