import type { FinishReason, Usage } from './model.ts';

/** The estimated usage of an answer for which the provider reported no usage. */
export interface EstimatedUsage {
  /** The estimated tokens. */
  readonly usage: Usage;
  /** The estimated cost in USD; null if no price is known. */
  readonly costUsd: number | null;
}

/** The usage of an answer, as the log records it. The optional fields are absent in older logs, and if nothing was used. */
export interface AnswerUsage {
  /** The usage that the provider reported; all zero if it reported none. */
  readonly usage: Usage;
  /** The model that answered, as `provider/id`. */
  readonly model?: string;
  /** The cost in USD; null if no price is known. */
  readonly costUsd?: number | null;
  /** The source of the price. */
  readonly pricedBy?: string;
  /** The estimated usage, if the provider did not report all of it. */
  readonly estimated?: EstimatedUsage;
  /** The number of searches with the provider's own search tool, whose fee is part of the cost. Default: 0. */
  readonly searches?: number;
}

/** The details that the log records of a complete answer. */
export interface LoggedAnswer extends AnswerUsage {
  /** The number of the turn, from 1. */
  readonly turn: number;
  /** The cost in USD; null if no price is known. */
  readonly costUsd: number | null;
  /** The reason why the answer ended. */
  readonly reason: FinishReason;
  /** The model that answered, as `provider/id`. */
  readonly model: string;
  /** Milliseconds from the request to the end of the answer. */
  readonly ms: number;
}
